import { listMissing, listNeeds } from '../evidence/abilities.ts';
import { type CallInput, fillCallInput } from '../evidence/call-input.ts';
import type { Replaceable } from '../evidence/made-value.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { type Caution, isDangerous } from '../model/caution.ts';
import type { JsonObject } from '../model/json.ts';
import { type LiveListing, listRouteCautions } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { buildToolCall, type PaidRequest } from '../model/request.ts';
import { formatRoute, getRouteUrl, getToolName, isToolPath, type Route } from '../model/route.ts';
import { isCeiling } from '../model/terms.ts';
import { formatPrice, formatUsdc } from '../model/usdc.ts';
import { describeCaution } from './words/caution.ts';
import { formatDay } from './words/figures.ts';

/** How to call one route of a listing: first free of charge to see its 402, then paying. */
export interface CallGuide {
  /** The route shown: method and path as the provider declares them. */
  readonly route: string;
  /** What the caller replaces first. */
  readonly replace: readonly Replaceable[];
  /** The price on record in USDC, and the name of the network it is paid on; null where no price is on record. */
  readonly price: string | null;
  readonly network: string;
  /** Asks without paying; the answer is HTTP 402 with the payment requirements. */
  readonly curl: string;
  /** The same for a script of the page, as JSON; null where a browser cannot send it. */
  readonly ask: string | null;
  /** Pays and receives the product, in two languages; null where nothing should be paid, or no call can be made. */
  readonly paying: {
    readonly install: string;
    readonly typescript: string;
    readonly python_install: string;
    /** Null where no client is known that pays so. */
    readonly python: string | null;
  } | null;
  /** Why nothing should be paid for this route; null where nothing of danger speaks against it. */
  readonly stop: string | null;
  /** Why the record cannot make a call that pays and works, in a sentence; null where it can. */
  readonly lack: string | null;
  /** Day on which this very request was paid for and answered; null where it is made from what sources declare. */
  readonly known_good_on: string | null;
  /** What the request was made from. */
  readonly basis: CallInput['basis'];
}

/** Builds the call of a listing that names no routes: a plain request of its base address. */
export function buildBareCall(listing: LiveListing): CallGuide {
  return buildGuide(buildCallRequest(listing.base_url, undefined), {
    price: { network: listing.primary_network, amount: listing.price_max, scheme: 'exact' },
    dangers: listDangers(listing.cautions),
    lack: null,
    known_good_on: null,
    basis: 'none',
  });
}

/**
 * Builds the call of one route. No code that pays is built where something of danger speaks against the route, or the record
 * cannot make a request that its declared input allows.
 */
export function buildRouteCall(listing: LiveListing, route: Route): CallGuide {
  const proven = route.proof?.request ?? null;
  const input = fillCallInput(route);
  const price = findCallPrice(listing, route);
  return buildGuide(
    buildCallRequest(listing.base_url, route, input),
    {
      price: typeof price === 'string' ? null : price,
      dangers: listDangers(listRouteCautions(listing, route)),
      lack: typeof price === 'string' ? price : proven ? null : input.lack,
      known_good_on: proven && route.proof ? formatDay(route.proof.verified_at) : null,
      basis: input.basis,
    },
    isToolPath(route.path) ? getToolName(route.path) : undefined,
  );
}

interface GuideFacts extends Pick<CallGuide, 'lack' | 'known_good_on' | 'basis'> {
  readonly price: CallPrice | null;
  readonly dangers: readonly Caution[];
}

function listDangers(cautions: readonly Caution[]): Caution[] {
  return cautions.filter(({ severity }) => severity === 'danger');
}

function buildGuide(
  request: CallRequest,
  { price, dangers, ...facts }: GuideFacts,
  tool: string | undefined = undefined,
): CallGuide {
  return {
    ...facts,
    route: request.route,
    replace: request.replace,
    price: price && formatPrice(price.amount, isCeiling(price)),
    network: price ? NETWORKS[price.network].label : '',
    curl: buildCurl(request),
    ask: buildAsk(request, tool),
    paying:
      price === null || facts.lack !== null || dangers.length > 0
        ? null
        : {
            install: tool
              ? `${getInstallCommand(price.network).replace('@x402/fetch', '@x402/mcp')} @modelcontextprotocol/sdk`
              : getInstallCommand(price.network),
            typescript: tool ? buildToolTypescript(request, price, tool) : buildTypescript(request, price),
            python_install: getPythonInstallCommand(price.network),
            python: tool ? null : buildPython(request, price),
          },
    stop: dangers.length > 0 ? dangers.map(describeCaution).join(' ') : null,
  };
}

/** Finds the route whose call shows most: verified, priced, with an example, nothing to fill in; else the first. */
export function findTellingRoute(routes: readonly Route[]): Route | undefined {
  const getWorth = ({ proof, terms, example, path, cautions }: Route) =>
    (isDangerous(cautions) ? -16 : 0) +
    (proof ? 8 : 0) +
    (terms.length > 0 ? 4 : 0) +
    (example ? 2 : 0) +
    (/\/:|\{/.test(path) ? 0 : 1);
  return routes.reduce<Route | undefined>(
    (best, route) => (best === undefined || getWorth(route) > getWorth(best) ? route : best),
    undefined,
  );
}

/** Schemes whose payment is shown as code, by network. */
const PAID_SCHEMES: Readonly<Record<NetworkKey, readonly PaidScheme[]>> = {
  base: ['exact', 'upto'],
  solana: ['exact'],
};

/**
 * Finds what a route's call costs now: its cheapest offer that the code can pay, `exact` before `upto`, and on Base where even. Where no route has an offer of its own, the listing's price is that of each. Gives a sentence where there is no
 * such price.
 */
function findCallPrice(listing: LiveListing, route: Route): CallPrice | string {
  const offers = getCurrentTerms(route.terms);
  if (offers.length === 0) {
    return listing.routes.some(({ terms }) => terms.length > 0)
      ? 'No price is on record for this route, so no code that pays is shown.'
      : { network: listing.primary_network, amount: listing.price_max, scheme: 'exact' };
  }
  const paid = offers.flatMap(({ network, amount, scheme, ...offer }) => {
    const name = PAID_SCHEMES[network].find((name) => name === scheme);
    const missing = listMissing(listNeeds({ network, amount, scheme, ...offer }), DONE_IN_CODE);
    return name ? [{ network, amount, scheme: name, missing }] : [];
  });
  const [cheapest] = paid
    .filter(({ missing }) => missing.length === 0)
    .toSorted(
      (a, b) =>
        Number(b.scheme === 'exact') - Number(a.scheme === 'exact') ||
        a.amount - b.amount ||
        (a.network < b.network ? -1 : 1),
    );
  if (cheapest) {
    const { network, amount, scheme } = cheapest;
    return { network, amount, scheme };
  }
  const [other] = paid;
  if (!other) return 'It is paid by a scheme that no code here pays by.';
  return `The offer on record needs what no code here does (${other.missing.join(', ')}).`;
}

/** What the code that is shown does to pay; it pays by both versions of x402. */
const DONE_IN_CODE: ReadonlySet<string> = new Set(['evm', 'svm', 'exact', 'upto', 'eip3009', 'permit2', 'mcp']);

/** What the caller is ready to pay, and where. */
interface CallPrice {
  readonly network: NetworkKey;
  /** Atomic USDC. */
  readonly amount: number;
  readonly scheme: PaidScheme;
}

type PaidScheme = 'exact' | 'upto';

/** What to install and import for paying on each network, and the wallet's key as an environment variable. */
const TYPESCRIPT_WALLETS: Readonly<Record<NetworkKey, { install: string; imports: string[]; register: string }>> = {
  base: {
    install: 'npm install @x402/fetch @x402/evm viem',
    imports: [
      "import { registerExactEvmScheme } from '@x402/evm/exact/client';",
      "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      "import { privateKeyToAccount } from 'viem/accounts';",
    ],
    register: `registerExactEvmScheme(client, {
  signer: privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`),
  networks: ['${NETWORKS.base.id}'],
});`,
  },
  solana: {
    install: 'npm install @x402/fetch @x402/svm @solana/kit',
    imports: [
      "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
      "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      "import { registerExactSvmScheme } from '@x402/svm/exact/client';",
    ],
    register: `registerExactSvmScheme(client, {
  signer: await createKeyPairSignerFromBytes(getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY!)),
  networks: ['${NETWORKS.solana.id}'],
});`,
  },
};

/** The same for a price that is a ceiling, which is paid through Permit2. */
const TYPESCRIPT_UPTO: { imports: string[]; register: string } = {
  imports: [
    "import { UptoEvmScheme } from '@x402/evm/upto/client';",
    "import { wrapFetchWithPayment, x402Client } from '@x402/fetch';",
    "import { privateKeyToAccount } from 'viem/accounts';",
  ],
  register: `// The wallet must once have allowed Permit2 to move its USDC: send what createPermit2ApprovalTx of @x402/evm returns.
const signer = privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`);
client.register('${NETWORKS.base.id}', new UptoEvmScheme(signer));`,
};

/** Gives the command that installs what `buildTypescript` imports. */
function getInstallCommand(network: NetworkKey): string {
  return TYPESCRIPT_WALLETS[network].install;
}

/**
 * Writes a paid request as a TypeScript module for Node, on @x402/fetch 2.x. It never pays more than the price on record
 * and follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildTypescript(request: CallRequest, price: CallPrice): string {
  const { imports, register } = price.scheme === 'upto' ? TYPESCRIPT_UPTO : TYPESCRIPT_WALLETS[price.network];
  return `${imports.join('\n')}

const client = new x402Client();
${register}
// The price on record: a dearer answer is refused, not paid.
client.setSpendControls({ maxAmountPerPayment: '$${formatUsdc(price.amount)}' });

const fetchWithPayment = wrapFetchWithPayment(fetch, client);
const response = await fetchWithPayment(${quoteForTypescript(request.url)}, ${buildInit(request)});
console.log(response.status, await response.text());
`;
}

/**
 * Writes a paid tool call as a TypeScript module for Node, on @x402/mcp 2.x. It never pays more than the price on record.
 */
function buildToolTypescript(request: CallRequest, price: CallPrice, tool: string): string {
  const { network, amount } = price;
  const args = JSON.parse(request.body?.text ?? '{}').params?.arguments ?? {};
  const isBase = network === 'base';
  const type = price.scheme === 'upto' ? 'UptoEvmScheme' : isBase ? 'ExactEvmScheme' : 'ExactSvmScheme';
  const path = isBase ? `@x402/evm/${price.scheme}/client` : '@x402/svm/exact/client';
  const wallet = isBase
    ? [
        "import { privateKeyToAccount } from 'viem/accounts';",
        'privateKeyToAccount(process.env.EVM_PRIVATE_KEY as `0x${string}`)',
      ]
    : [
        "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
        'await createKeyPairSignerFromBytes(getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY!))',
      ];
  return `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ${type} } from '${path}';
import { wrapMCPClientWithPaymentFromConfig } from '@x402/mcp';
${wallet[0]}

const client = wrapMCPClientWithPaymentFromConfig(new Client({ name: 'buyer', version: '1.0.0' }), {
  schemes: [{ network: '${NETWORKS[network].id}', client: new ${type}(${wallet[1]}) }],
  // The price on record: a dearer call is refused, not paid.
  spendControls: { maxAmountPerPayment: '$${formatUsdc(amount)}' },
});

await client.connect(new StreamableHTTPClientTransport(new URL(${quoteForTypescript(request.url)})));
console.log(await client.callTool(${quoteForTypescript(tool)}, ${formatJson(args)}));
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

/** What to install and import for paying on each network, and the wallet's key as an environment variable. */
const PYTHON_WALLETS: Readonly<Record<NetworkKey, { install: string; imports: string[]; register: string }>> = {
  base: {
    install: 'pip install "x402[requests,evm]"',
    imports: [
      'from eth_account import Account',
      'from x402 import max_amount, x402ClientSync',
      'from x402.http.clients import x402_requests',
      'from x402.mechanisms.evm import EthAccountSigner',
      'from x402.mechanisms.evm.exact.register import register_exact_evm_client',
    ],
    register: `signer = EthAccountSigner(Account.from_key(os.environ["EVM_PRIVATE_KEY"]))
register_exact_evm_client(client, signer, networks="${NETWORKS.base.id}")`,
  },
  solana: {
    install: 'pip install "x402[requests,svm]"',
    imports: [
      'from x402 import max_amount, x402ClientSync',
      'from x402.http.clients import x402_requests',
      'from x402.mechanisms.svm import KeypairSigner',
      'from x402.mechanisms.svm.exact.register import register_exact_svm_client',
    ],
    register: `signer = KeypairSigner.from_base58(os.environ["SVM_PRIVATE_KEY"])
register_exact_svm_client(client, signer, networks="${NETWORKS.solana.id}")`,
  },
};

/** The same for a price that is a ceiling, which is paid through Permit2. */
const PYTHON_UPTO: { imports: string[]; register: string } = {
  imports: PYTHON_WALLETS.base.imports.with(
    -1,
    'from x402.mechanisms.evm.upto.register import register_upto_evm_client',
  ),
  register: `# The wallet must once have allowed Permit2 to move its USDC (an ERC-20 approval).
${PYTHON_WALLETS.base.register.replace('register_exact_evm_client', 'register_upto_evm_client')}`,
};

/** Gives the command that installs what `buildPython` imports. */
function getPythonInstallCommand(network: NetworkKey): string {
  return PYTHON_WALLETS[network].install;
}

/**
 * Writes a paid request as a Python script, on the x402 package 2.x. It never pays more than the price on record and
 * follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildPython({ method, url, headers, body }: CallRequest, price: CallPrice): string {
  const { imports, register } = price.scheme === 'upto' ? PYTHON_UPTO : PYTHON_WALLETS[price.network];
  const { usdc } = NETWORKS[price.network];
  // Addresses of Base may come in small letters, those of Solana are told apart by them.
  const isUsdc =
    price.network === 'base' ? `offer.asset.lower() == "${usdc.toLowerCase()}"` : `offer.asset == "${usdc}"`;
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
${register}
# At most the price on record, in millionths of a USDC, and in USDC alone: all else is refused, not paid.
client.register_policy(max_amount(${price.amount}))
client.register_policy(lambda _, offers: [offer for offer in offers if ${isUsdc}])

response = x402_requests(client).request(
${options.join('\n')}
)
print(response.status_code, response.text)
`;
}

/**
 * Quotes JSON text as a raw string of several lines: nothing in it is read but its own end, and a quote inside JSON is
 * in a string of JSON, where it can be escaped.
 */
function quoteForPython(json: string): string {
  return `r'''${json.replaceAll("'", '\\u0027')}'''`;
}

/** Header names as HTTP allows them, less those that carry a payment or a secret or belong to the connection. */
const HEADER_NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_|~-]*$/i;
const WITHHELD_HEADER = /^(host|connection|content-length|transfer-encoding|cookie|.*authorization|.*payment.*)$/i;

/** A segment to fill in, as feeds write it (`/:id`) and as OpenAPI does (`{id}`). */
const TEMPLATE = /(?<=\/):([A-Za-z_][\w-]*)|\{([A-Za-z_][\w-]*)\}/g;

/** Everything that is not plain in an address, in a shell or in a string; angle brackets are kept for placeholders alone. */
const UNSAFE_IN_URL = /[^\x21-\x7e]|["'<>\\^`{|}]/gu;

/** One request to a route, as the catalogue would make it: every part is the provider's and hostile until quoted. */
export interface CallRequest {
  /** The route as commands and pages name it, or the base address where no route is itemised. */
  readonly route: string;
  readonly method: string;
  /** Printable ASCII without quotes; what the caller fills in is in it as `<name>`. */
  readonly url: string;
  /** What the caller replaces first. */
  readonly replace: readonly Replaceable[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: CallBody | null;
}

/** What is sent as a body: JSON over several lines, or text of another media type as it is. */
export interface CallBody {
  readonly text: string;
  readonly isJson: boolean;
}

/** Builds the example request of a route; without a route, a plain GET of the base address. */
export function buildCallRequest(
  baseUrl: string,
  route: Route | undefined,
  input: CallInput | undefined = route && fillCallInput(route),
): CallRequest {
  if (route && input && isToolPath(route.path)) return buildToolRequest(baseUrl, route, input);
  if (!route || !input) {
    const url = encodeUnsafe(baseUrl);
    return { route: `GET ${url}`, method: 'GET', url, replace: [], headers: [], body: null };
  }
  const proven = route.proof?.request;
  if (proven) return buildProvenRequest(route, proven);
  const { url, placeholders } = fillUrl(getRouteUrl(baseUrl, route.path), input);
  const headers = listHeaders(input.headers, input.body !== undefined);
  return {
    route: formatRoute(route),
    method: route.method,
    url,
    replace: [...placeholders.map((name) => ({ name, shown: `<${name}>` })), ...input.replace],
    headers,
    body: input.body === undefined ? null : buildBody(input.body, headers),
  };
}

/** A text is sent as it is, unless the request says that it sends JSON. */
function buildBody(body: unknown, headers: CallRequest['headers']): CallBody {
  const [, type = ''] = headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const isJson = typeof body !== 'string' || /json/i.test(type);
  return { text: isJson ? formatJson(body) : body, isJson };
}

/** Builds the call of a tool: the message that an MCP client sends, with the arguments that were paid for or fit its schema. */
function buildToolRequest(baseUrl: string, route: Route, input: CallInput): CallRequest {
  const paid = route.proof?.request?.body;
  const message = formatJson(buildToolCall(getToolName(route.path), input.body as JsonObject | undefined));
  return {
    route: formatRoute(route),
    method: 'POST',
    url: encodeUnsafe(getRouteUrl(baseUrl, route.path.split('#')[0] ?? '')),
    replace: paid ? [] : input.replace,
    headers: [
      ['accept', 'application/json, text/event-stream'],
      ['content-type', 'application/json'],
    ],
    body: paid ? readBody(paid) : { text: message, isJson: true },
  };
}

/** The very request that was paid for and answered: better than any example. */
function buildProvenRequest(route: Route, { method, url, headers, body }: PaidRequest): CallRequest {
  const { accept: _accept, ...given } = headers;
  return {
    route: formatRoute(route),
    method,
    url: encodeUnsafe(url),
    replace: [],
    headers: listHeaders(given, body !== null),
    body: body === null ? null : readBody(body),
  };
}

function readBody(body: string): CallBody {
  try {
    return { text: formatJson(JSON.parse(body)), isJson: true };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { text: body, isJson: false };
  }
}

/**
 * Writes JSON for a place that people read and copy: characters that are invisible or that turn the direction of text are
 * escaped, so that what is seen is what is sent.
 */
function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()].map((at) => escapeUnit(character, at)).join(''),
  );
}

function escapeUnit(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}

function fillUrl(
  address: string,
  { path, query, replace }: Pick<CallInput, 'path' | 'query' | 'replace'>,
): { url: string; placeholders: string[] } {
  const placeholders = new Set<string>();
  let url = '';
  let rest = 0;
  for (const match of address.matchAll(TEMPLATE)) {
    const name = match[1] ?? match[2] ?? '';
    const known = Object.hasOwn(path, name) ? path[name] : undefined;
    if (known === undefined) placeholders.add(name);
    const filled = known === undefined ? `<${name}>` : encodeUnsafe(encodeURIComponent(known.toWellFormed()));
    url += `${encodeUnsafe(address.slice(rest, match.index))}${filled}`;
    rest = match.index + match[0].length;
  }
  url += encodeUnsafe(address.slice(rest));
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
  );
  // What is to be replaced is easier found as it is named than percent-encoded.
  const search = replace.reduce(
    (text, { name }) => text.replaceAll(`=%3C${name}%3E`, `=<${name}>`),
    encodeUnsafe(pairs.join('&')),
  );
  const separator = search === '' ? '' : url.includes('?') ? '&' : '?';
  return { url: `${url}${separator}${search}`, placeholders: [...placeholders] };
}

function encodeUnsafe(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE_IN_URL, (character) => (character === "'" ? '%27' : encodeURIComponent(character)));
}

function listHeaders(given: Record<string, string>, hasBody: boolean): [string, string][] {
  const headers = Object.entries(given).filter(
    ([name, value]) => HEADER_NAME.test(name) && !WITHHELD_HEADER.test(name) && /^[\x20-\x7e]+$/.test(value),
  );
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return hasBody && !isTyped ? [['content-type', 'application/json'], ...headers] : headers;
}

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

/** Writes a request without payment for a browser, which asks https addresses, and tools not at all. */
function buildAsk({ method, url, headers, body }: CallRequest, tool: string | undefined): string | null {
  if (tool !== undefined || !/^https?:/.test(url)) return null;
  return JSON.stringify({ method, url, ...(headers.length > 0 && { headers }), ...(body && { body: body.text }) });
}

/** Quotes any text as one word of a POSIX shell: nothing inside single quotes is special but the quote itself. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}
