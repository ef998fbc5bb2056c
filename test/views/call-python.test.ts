import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { buildCallGuide, buildPython, type CallRequest } from '../../src/views/call.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../records.ts';
import { makeLiveListing } from './listings.ts';

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

/** Runs a script in a real Python; undefined where this machine has none. */
function runPython(code: string): Record<string, unknown> | undefined {
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

const REQUEST: CallRequest = {
  ...{ route: 'POST /v1/x', method: 'POST', url: 'https://api.example.com/v1/x?q=%27', placeholders: [] },
  headers: [['x-note', 'it\'s "quoted" \\ and \\n']],
  body: JSON.stringify({ text: `'''""" \\ \n ü 語 \${x} {y} %s`, ends: "'", flag: true, none: null }, null, 2),
};

it('asks for what the request says, in Python, up to the price and without following a redirect', () => {
  for (const network of ['base', 'solana'] as const) {
    const said = runPython(buildPython(REQUEST, { network, amount: 2500 }));
    if (!said) return;
    const { data, ...options } = said.options as Record<string, unknown>;
    expect(JSON.parse(String(data))).toEqual(JSON.parse(REQUEST.body ?? ''));
    expect({ ...said, options }).toEqual({
      ...{ cap: 2500, method: 'POST', url: REQUEST.url },
      options: { headers: Object.fromEntries(REQUEST.headers), allow_redirects: false },
    });
  }
});

it('pays on the network of the offer, and says what to install for it', () => {
  const guide = (network: 'base' | 'solana') =>
    buildCallGuide(makeLiveListing(makeDeclaration({ routes: [makeRoute({ terms: [makeTerms({ network })] })] })));
  expect(guide('base').paying).toMatchObject({
    python: expect.stringContaining('register_exact_evm_client(client, signer, networks="eip155:8453")'),
    python_install: 'pip install "x402[requests,evm]"',
  });
  expect(guide('solana').paying).toMatchObject({
    python: expect.stringContaining('networks="solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"'),
    python_install: 'pip install "x402[requests,svm]"',
  });
});

it('says whether the request is known to work, an example, or neither', () => {
  const example = { query: { q: 'x' } };
  const guide = (declared: Parameters<typeof makeRoute>[0]) =>
    buildCallGuide(makeLiveListing(makeDeclaration({ routes: [makeRoute(declared)] })));
  expect(guide({ example })).toMatchObject({ known_good_on: null, is_example: true });
  expect(guide({})).toMatchObject({ known_good_on: null, is_example: false });
});
