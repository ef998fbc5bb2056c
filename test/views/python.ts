import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

/** The packages that the script imports, all of which only say what they were given. */
const STAND_INS = `
import json, sys
from unittest.mock import MagicMock
for name in ("eth_account x402 x402.http x402.http.clients x402.mechanisms x402.mechanisms.evm x402.mechanisms.evm.exact "
             "x402.mechanisms.evm.exact.register x402.mechanisms.svm x402.mechanisms.svm.exact "
             "x402.mechanisms.svm.exact.register").split():
    sys.modules[name] = MagicMock()
said = {}
sys.modules["x402"].max_amount = lambda amount: said.update(cap=amount)
class Session:
    def request(self, method, url, **options):
        said.update(method=method, url=url, options={k: v.decode() if isinstance(v, bytes) else v for k, v in options.items()})
        return MagicMock()
sys.modules["x402.http.clients"].x402_requests = lambda client: Session()
`;

/** What a script asks for: the request that it makes, and the most that it pays, in atomic USDC. */
export interface PythonRequest {
  readonly method: string;
  readonly url: string;
  readonly cap: number;
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
