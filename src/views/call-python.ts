import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { type CallRequest, formatJson } from './call-request.ts';
import type { CallPrice } from './call-typescript.ts';

/** What to install and import for paying on each network, and the wallet's key as an environment variable. */
const WALLETS: Readonly<Record<NetworkKey, { install: string; imports: string[]; register: string }>> = {
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

/** Gives the command that installs what `buildPython` imports. */
export function getPythonInstallCommand(network: NetworkKey): string {
  return WALLETS[network].install;
}

/**
 * Writes a paid request as a Python script, on the x402 package 2.x. It never pays more than the price on record and
 * follows no redirect, since the client would hand the payment on to wherever that leads.
 */
export function buildPython({ method, url, headers, body }: CallRequest, price: CallPrice): string {
  const { imports, register } = WALLETS[price.network];
  const fields = headers.map(([name, value]) => `        ${formatJson(name)}: ${formatJson(value)},\n`).join('');
  const options = [
    `    ${formatJson(method)},`,
    `    ${formatJson(url)},`,
    ...(fields ? [`    headers={\n${fields}    },`] : []),
    ...(body === null ? [] : [`    data=${quoteForPython(body)}.encode(),`]),
    '    allow_redirects=False,',
  ];
  return `import os

${imports.join('\n')}

client = x402ClientSync()
${register}
# The price on record, in millionths of a USDC: a dearer answer is refused, not paid.
client.register_policy(max_amount(${price.amount}))

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
