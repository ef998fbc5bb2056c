import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';

/** Another token of Base that is paid in the same way, and of which as many units are worth much more. */
const CBBTC = '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf';

/** The packages that the script imports, all of which only say what they were given. */
const STAND_INS = `
import json, sys
ASSETS = '${JSON.stringify([...Object.values(NETWORKS).map(({ usdc }) => usdc), CBBTC])}'
from unittest.mock import MagicMock
for name in ("eth_account x402 x402.http x402.http.clients x402.mechanisms x402.mechanisms.evm x402.mechanisms.evm.exact "
             "x402.mechanisms.evm.exact.register x402.mechanisms.svm x402.mechanisms.svm.exact "
             "x402.mechanisms.svm.exact.register").split():
    sys.modules[name] = MagicMock()
said = {}
class Offer:
    def __init__(self, asset, amount):
        self.asset, self.amount = asset, amount
def max_amount(cap):
    said.update(cap=cap)
    return lambda version, offers: [offer for offer in offers if offer.amount <= cap]
policies = []
class Client:
    def register_policy(self, policy):
        policies.append(policy)
def choose(offers):
    for policy in policies:
        offers = policy(2, offers)
    return [f"{offer.amount - said['cap']} {offer.asset}" for offer in offers]
sys.modules["x402"].max_amount = max_amount
sys.modules["x402"].x402ClientSync = Client
class Session:
    def request(self, method, url, **options):
        assets = json.loads(ASSETS)
        said.update(payable=choose([Offer(asset, said["cap"] + more) for asset in assets for more in (0, 1)]))
        said.update(method=method, url=url, options={k: v.decode() if isinstance(v, bytes) else v for k, v in options.items()})
        return MagicMock()
sys.modules["x402.http.clients"].x402_requests = lambda client: Session()
`;

/** What a script asks for: the request that it makes, and the most that it pays, in atomic USDC. */
export interface PythonRequest {
  readonly method: string;
  readonly url: string;
  readonly cap: number;
  /** Which offers it would pay of each token at the cap and one above it: how far above, and the token. */
  readonly payable: readonly string[];
  readonly options: {
    readonly headers?: Record<string, string>;
    readonly data?: string;
    readonly allow_redirects: boolean;
  };
}

/** Runs a script in a real Python; undefined where this machine has none. */
export function runPython(code: string): PythonRequest | undefined {
  const { error, status, stdout, stderr } = spawnSync(
    'python3',
    ['-c', `${STAND_INS}${code}\nprint("\\n" + json.dumps(said))`],
    {
      encoding: 'utf8',
      env: { ...process.env, EVM_PRIVATE_KEY: '0x1', SVM_PRIVATE_KEY: '1', PYTHONIOENCODING: 'utf-8' },
    },
  );
  // A shell's own answer for a command that is not there, and what stands in for one in places without.
  if (error || status === 127) {
    console.log('Not run: there is no python3 on this machine.');
    return undefined;
  }
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
