import { formatJson } from '../../model/json-text.ts';
import { type Family, NETWORKS, type NetworkKey } from '../../model/network.ts';
import { formatUsdc } from '../../model/usdc.ts';
import type { CallRequest } from './request.ts';

/** The price that the caller is ready to pay, and its network. */
export interface CallPrice {
  readonly network: NetworkKey;
  /** Atomic USDC. */
  readonly amount: number;
  readonly scheme: PaidScheme;
}

type PaidScheme = 'exact' | 'upto';

/** Schemes that the code examples can pay, by family. */
export const PAID_SCHEMES: Readonly<Record<Family, readonly PaidScheme[]>> = {
  evm: ['exact', 'upto'],
  svm: ['exact'],
};

/** Abilities of the code examples, which pay by both versions of x402. */
export const DONE_IN_CODE: ReadonlySet<string> = new Set(['evm', 'svm', 'exact', 'upto', 'eip3009', 'permit2', 'mcp']);

/**
 * Writes a request without payment as a command for a POSIX shell; its answer is the 402 and costs nothing.
 * `--globoff` keeps curl from reading `[1-1000]` or `{a,b}` in an address as many requests.
 */
export function buildCurl({ method, url, headers, body }: CallRequest): string {
  const options = ['curl --include --globoff'];
  if (method === 'HEAD') options.push('--head');
  else if (method !== 'GET') options.push(`--request ${method}`);
  for (const [name, value] of headers) options.push(`--header ${quoteForShell(`${name}: ${value}`)}`);
  // --data-raw: unlike --data it never takes a leading @ for a file name.
  if (body !== null) options.push(`--data-raw ${quoteForShell(body.text)}`);
  options.push(`--url ${quoteForShell(url)}`);
  return options.join(' \\\n  ');
}

/**
 * Writes a request without payment for a browser, as JSON. Null for an address that is neither http nor https, and for a tool.
 */
export function buildAsk({ tool, method, url, headers, body }: CallRequest): string | null {
  if (tool !== undefined || !/^https?:/.test(url)) return null;
  return JSON.stringify({ method, url, ...(headers.length > 0 && { headers }), ...(body && { body: body.text }) });
}

/** Quotes any text as one word of a POSIX shell: nothing inside single quotes is special but the quote itself. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}

/** Code that pays for a request, and the commands that install what it imports. */
export interface PayingCode {
  readonly install: string;
  readonly typescript: string;
  readonly python_install: string;
  /** Null if no Python client can pay this way. */
  readonly python: string | null;
}

/** Writes the code that pays for a request. */
export function buildPayingCode(request: CallRequest, price: CallPrice): PayingCode {
  const { tool } = request;
  const { family } = NETWORKS[price.network];
  const { install } = TYPESCRIPT_WALLETS[family];
  const python_install = PYTHON_WALLETS[family].install;
  if (tool === undefined) {
    return {
      install,
      typescript: buildTypescript(request, price),
      python_install,
      python: buildPython(request, price),
    };
  }
  return {
    install: `${install.replace(FETCH, '@x402/core')} @modelcontextprotocol/sdk`,
    typescript: buildToolTypescript(request, price, tool),
    python_install,
    python: null,
  };
}

/** The packages and imports for paying on a chain of a family, and a wallet with its key in an environment variable. */
interface WalletCode {
  readonly install: string;
  readonly imports: string[];
  /** Writes the registration of the wallet for the chain with a CAIP-2 identifier. */
  readonly register: (id: string) => string;
}

/** Pays requests over HTTP; tools are paid without it. */
const FETCH = '@x402/fetch';

const TYPESCRIPT_WALLETS: Readonly<Record<Family, WalletCode>> = {
  evm: {
    install: 'npm install @x402/fetch @x402/evm viem',
    imports: [
      "import { registerExactEvmScheme } from '@x402/evm/exact/client';",
      "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      "import { privateKeyToAccount } from 'viem/accounts';",
    ],
    register: (id) => `registerExactEvmScheme(client, {
  signer: privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`),
  networks: ['${id}'],
});`,
  },
  svm: {
    install: 'npm install @x402/fetch @x402/svm @solana/kit',
    imports: [
      "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
      "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      "import { registerExactSvmScheme } from '@x402/svm/exact/client';",
    ],
    register: (id) => `registerExactSvmScheme(client, {
  signer: await createKeyPairSignerFromBytes(getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY!)),
  networks: ['${id}'],
});`,
  },
};

/** The code for a price that is a ceiling, which is paid through Permit2. */
const TYPESCRIPT_UPTO: Omit<WalletCode, 'install'> = {
  imports: [
    "import { UptoEvmScheme } from '@x402/evm/upto/client';",
    "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
    "import { privateKeyToAccount } from 'viem/accounts';",
  ],
  register: (
    id,
  ) => `// The wallet must once have allowed Permit2 to move its USDC: send what createPermit2ApprovalTx of @x402/evm returns.
const signer = privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`);
client.register('${id}', new UptoEvmScheme(signer));`,
};

/**
 * Writes a paid request as a TypeScript module for Node, on @x402/fetch 2.x. It never pays more than the price on record
 * and follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildTypescript(request: CallRequest, price: CallPrice): string {
  const { id, family } = NETWORKS[price.network];
  const { imports, register } = price.scheme === 'upto' ? TYPESCRIPT_UPTO : TYPESCRIPT_WALLETS[family];
  return `${imports.join('\n')}

const client = new x402Client();
${register(id)}
// The price on record: a dearer answer is refused, not paid.
client.setSpendControls({ maxAmountPerPayment: '$${formatUsdc(price.amount)}' });

const fetchWithPayment = wrapFetchWithPayment(fetch, client);
const response = await fetchWithPayment(${quoteForTypescript(request.url)}, ${buildInit(request)});
console.log(response.status, await response.text());
`;
}

/**
 * Writes a paid tool call as a TypeScript module for Node, on @x402/core 2.x: the tool asks for the payment in its result,
 * and is called again with it. It never pays more than the price on record.
 */
function buildToolTypescript(request: CallRequest, price: CallPrice, tool: string): string {
  const { id, family } = NETWORKS[price.network];
  const { imports, register } = price.scheme === 'upto' ? TYPESCRIPT_UPTO : TYPESCRIPT_WALLETS[family];
  const args = JSON.parse(request.body?.text ?? '{}').params?.arguments ?? {};
  const wallet = imports.filter((line) => !line.includes(FETCH));
  return `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { x402Client } from '@x402/core/client';
${wallet.join('\n')}

const client = new x402Client();
${register(id)}
// The price on record: a dearer call is refused, not paid.
client.setSpendControls({ maxAmountPerPayment: '$${formatUsdc(price.amount)}' });

const server = new Client({ name: 'buyer', version: '1.0.0' });
await server.connect(new StreamableHTTPClientTransport(new URL(${quoteForTypescript(request.url)})));
const call = { name: ${quoteForTypescript(tool)}, arguments: ${formatJson(args, 2)} };
const asked = await server.callTool(call);
const [text] = asked.content as { text: string }[];
const payment = await client.createPaymentPayload(asked.structuredContent ?? JSON.parse(text?.text ?? ''));
console.log(await server.callTool({ ...call, _meta: { 'x402/payment': payment } }));
await server.close();
`;
}

function buildInit({ method, headers, body }: CallRequest): string {
  const lines = [`method: ${quoteForTypescript(method)},`];
  if (headers.length > 0) {
    lines.push('headers: {');
    for (const [name, value] of headers) lines.push(`  ${quoteForTypescript(name)}: ${quoteForTypescript(value)},`);
    lines.push('},');
  }
  if (body !== null) {
    const written = body.isJson ? `JSON.stringify(${body.text})` : quoteForTypescript(body.text);
    lines.push(...`body: ${written},`.split('\n'));
  }
  lines.push("redirect: 'error',");
  return `{\n${lines.map((line) => `  ${line}`).join('\n')}\n}`;
}

/** Quotes any text as a string literal: JSON's escapes are JavaScript's, and invisible characters are escaped too. */
function quoteForTypescript(text: string): string {
  const quoted = formatJson(text);
  return quoted.includes("'") || quoted.includes('\\') ? quoted : `'${quoted.slice(1, -1)}'`;
}

/**
 * First version of the x402 package for Python that has all functions that the code calls, judged by its source at commit
 * f903d13e, just before the release.
 */
export const PYTHON_SDK = '2.20.0';

const PYTHON_WALLETS: Readonly<Record<Family, WalletCode>> = {
  evm: {
    install: `pip install "x402[requests,evm]>=${PYTHON_SDK}"`,
    imports: [
      'from eth_account import Account',
      'from x402 import x402ClientSync',
      'from x402.http.clients import x402_requests',
      'from x402.mechanisms.evm import EthAccountSigner',
      'from x402.mechanisms.evm.exact.register import register_exact_evm_client',
    ],
    register: (id) => `signer = EthAccountSigner(Account.from_key(os.environ["EVM_PRIVATE_KEY"]))
register_exact_evm_client(client, signer, networks="${id}")`,
  },
  svm: {
    install: `pip install "x402[requests,svm]>=${PYTHON_SDK}"`,
    imports: [
      'from x402 import x402ClientSync',
      'from x402.http.clients import x402_requests',
      'from x402.mechanisms.svm import KeypairSigner',
      'from x402.mechanisms.svm.exact.register import register_exact_svm_client',
    ],
    register: (id) => `signer = KeypairSigner.from_base58(os.environ["SVM_PRIVATE_KEY"])
register_exact_svm_client(client, signer, networks="${id}")`,
  },
};

/** The code for a price that is a ceiling, which is paid through Permit2. */
const PYTHON_UPTO: Omit<WalletCode, 'install'> = {
  imports: PYTHON_WALLETS.evm.imports.with(-1, 'from x402.mechanisms.evm.upto import UptoEvmScheme'),
  register: (id) => `# The wallet must once have allowed Permit2 to move its USDC (an ERC-20 approval).
signer = EthAccountSigner(Account.from_key(os.environ["EVM_PRIVATE_KEY"]))
client.register("${id}", UptoEvmScheme(signer))`,
};

/**
 * Writes a paid request as a Python script, on the x402 package 2.x. It never pays more than the price on record and
 * follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildPython({ method, url, headers, body }: CallRequest, price: CallPrice): string {
  const { id, family, usdc } = NETWORKS[price.network];
  const { imports, register } = price.scheme === 'upto' ? PYTHON_UPTO : PYTHON_WALLETS[family];
  // Addresses on EVM may be in lower case; on Solana upper and lower case differ.
  const isUsdc = family === 'evm' ? `offer.asset.lower() == "${usdc.toLowerCase()}"` : `offer.asset == "${usdc}"`;
  const fields = headers.map(([name, value]) => `        ${formatJson(name)}: ${formatJson(value)},\n`).join('');
  const options = [
    `    ${formatJson(method)},`,
    `    ${formatJson(url)},`,
    ...(fields ? [`    headers={\n${fields}    },`] : []),
    ...(body === null ? [] : [`    data=${body.isJson ? quoteForPython(body.text) : formatJson(body.text)}.encode(),`]),
    '    allow_redirects=False,',
  ];
  return `import os

${imports.join('\n')}

client = x402ClientSync()
${register(id)}
# At most the price on record, and in USDC alone: all else is refused, not paid.
client.set_spend_controls({"max_amount_per_payment": "$${formatUsdc(price.amount)}"})
client.register_policy(lambda _, offers: [offer for offer in offers if ${isUsdc}])

response = x402_requests(client).request(
${options.join('\n')}
)
print(response.status_code, response.text)
`;
}

/**
 * Quotes JSON text as a raw string of several lines. Python reads nothing in it but its end; a quote inside JSON is in a string,
 * where it can be escaped.
 */
function quoteForPython(json: string): string {
  return `r'''${json.replaceAll("'", '\\u0027')}'''`;
}
