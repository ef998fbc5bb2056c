import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { formatUsdc } from '../model/usdc.ts';
import { type CallRequest, formatJson } from './call-request.ts';

/** What the caller is ready to pay, and where. */
export interface CallPrice {
  readonly network: NetworkKey;
  /** Atomic USDC. */
  readonly amount: number;
}

/** What to install and import for paying on each network, and the wallet's key as an environment variable. */
const WALLETS: Readonly<Record<NetworkKey, { install: string; imports: string[]; register: string }>> = {
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

/** Gives the command that installs what `buildTypescript` imports. */
export function getInstallCommand(network: NetworkKey): string {
  return WALLETS[network].install;
}

/**
 * Writes a paid request as a TypeScript module for Node, on @x402/fetch 2.x. It never pays more than the price on record
 * and follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildTypescript(request: CallRequest, price: CallPrice): string {
  const { imports, register } = WALLETS[price.network];
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

function buildInit({ method, headers, body }: CallRequest): string {
  const lines = [`method: ${quoteForTypescript(method)},`];
  if (headers.length > 0) {
    lines.push('headers: {');
    for (const [name, value] of headers) lines.push(`  ${quoteForTypescript(name)}: ${quoteForTypescript(value)},`);
    lines.push('},');
  }
  if (body !== null) lines.push(...`body: JSON.stringify(${body}),`.split('\n'));
  lines.push("redirect: 'error',");
  return `{\n${lines.map((line) => `  ${line}`).join('\n')}\n}`;
}

/** Quotes any text as a string literal: JSON's escapes are JavaScript's, and invisible characters are escaped too. */
function quoteForTypescript(text: string): string {
  const quoted = formatJson(text);
  return quoted.includes("'") || quoted.includes('\\') ? quoted : `'${quoted.slice(1, -1)}'`;
}
