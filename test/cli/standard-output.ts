import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { makeCommands, writeManifest } from './running.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Runs a command whose standard output goes into a file, or is closed by its reader after the first bytes. */
async function runInto(target: string | undefined, args: string[], env: Record<string, string>) {
  const out = target === undefined ? 'pipe' : openSync(target, 'w');
  const child = spawn(process.execPath, ['--import', './scripts/require-node.mjs', 'scripts/catalogue.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ENV_FILES: 'off', ...env },
    stdio: ['ignore', out, 'pipe'],
  });
  if (typeof out === 'number') closeSync(out);
  child.stdout?.once('readable', () => child.stdout?.destroy());
  const [said, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')]);
  return { said, code };
}

/** Tests that commands end quietly when their reader stops, and with one sentence when the disk is full. */
export async function testOutput(commands: readonly string[][]): Promise<void> {
  const { environment, folder, run } = makeCommands();
  const manifests = Array.from({ length: 150 }, (_, n) => writeManifest(folder, `number-${n}.yaml`));
  expect(await run(['import', ...manifests])).toMatchObject({ code: 0 });
  for (const args of commands) {
    const [unread, full] = await Promise.all([
      runInto(undefined, args, environment),
      existsSync('/dev/full') ? runInto('/dev/full', args, environment) : undefined,
    ]);
    expect([args, unread]).toEqual([args, { said: '', code: 0 }]);
    if (!full) continue;
    expect([args, full]).toEqual([
      args,
      { said: expect.stringMatching(/^error: The disk is full\.\nhint: [^\n]+\n$/), code: 1 },
    ]);
  }
}
