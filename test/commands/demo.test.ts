import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

it('opens a whole market, pays for real calls on both chains, and ends by itself without serving', async () => {
  const child = spawn(process.execPath, ['--import', './scripts/require-node.mjs', 'scripts/demo.ts', '--no-serve'], {
    cwd: ROOT,
    // The test runner sets one of its own.
    env: { ...process.env, BASE_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.resume();
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(said).toMatch(/10 items: 10 taken, 0 refused\./);
  expect(said).toMatch(/^10\tpayable/m);
  expect(said.match(/settled, and the product came\./g)?.length).toBeGreaterThanOrEqual(8);
  expect(said).toContain('USDC on solana settled, and the product came.');
  expect(said).toContain('settled, but no product came: the route stays unverified.');
}, 90_000);
