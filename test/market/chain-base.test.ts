import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startBaseChain } from '../../scripts/market/chain-base.ts';

const MODULE = fileURLToPath(new URL('../../scripts/market/anvil.ts', import.meta.url));
const SOMEBODY = '0x000000000000000000000000000000000000dEaD';

/** Says whether nobody listens any more; a connection that is cut while the chain ends says nothing yet. */
async function isSilent(rpcUrl: string): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  try {
    await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return false;
  } catch (error) {
    return String((error as Error).cause).includes('ECONNREFUSED');
  }
}

async function becomesSilent(rpcUrl: string): Promise<boolean> {
  while (!(await isSilent(rpcUrl))) await new Promise((resolve) => setTimeout(resolve, 50));
  return true;
}

describe('the local chain', () => {
  it('gives money, tells its time and sets it', async () => {
    const chain = await startBaseChain();
    await Promise.all([chain.fund(SOMEBODY, 5n), chain.fund(SOMEBODY, 7n)]);
    expect(await chain.getBalance(SOMEBODY)).toBe(12n);
    const began = await chain.getTime();
    expect(Math.abs(began - Date.now() / 1000)).toBeLessThan(5);
    await chain.undoAfter(async () => {
      await chain.setTime(began + 1000);
      await chain.fund(SOMEBODY, 1n);
      expect(await chain.getTime()).toBeGreaterThanOrEqual(began + 1000);
    });
    await chain.mine();
    expect(await chain.getTime()).toBeLessThan(began + 100);
    expect(await chain.getBalance(SOMEBODY)).toBe(12n);
    await chain.stop();
    expect(await isSilent(chain.rpcUrl)).toBe(true);
  });

  it.each([
    ['is killed', 'process.kill(process.pid, "SIGKILL")'],
    ['throws', 'throw new Error("broken")'],
    ['exits', 'process.exit(3)'],
    ['comes to its end without stopping it', ''],
  ])('ends when the process that started it %s', async (_, ending) => {
    const code = `const { startAnvil } = await import(${JSON.stringify(MODULE)});
      const { rpcUrl } = await startAnvil();
      await new Promise((resolve) => process.stdout.write(rpcUrl, resolve));
      ${ending}`;
    const rpcUrl = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['--input-type=module', '-e', code], (_error, stdout) => resolve(stdout));
    });
    expect(rpcUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await becomesSilent(rpcUrl)).toBe(true);
  });
});
