import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Makes a folder with a catalogue of one listing, for what is not about the first start: putting the seed in takes a second. */
export async function makeStarted(): Promise<string> {
  const folder = makeFolder();
  await (await makeSiteFixture(folder, { count: 1 })).catalogue.close();
  return folder;
}

/** Runs `npm start` without npm on a folder of its own; what it says is kept, or goes `into` a file. */
export function start(folder: string, settings: Record<string, string> = {}, args: string[] = [], into?: string) {
  const env = {
    ...process.env,
    // The test runner sets one of its own, and the port is not known before.
    BASE_URL: 'http://catalogue.example',
    CATALOGUE: join(folder, 'catalogue.sqlite'),
    SITE: join(folder, 'site'),
    PORT: '0',
    ...settings,
  };
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const out = into === undefined ? 'pipe' : openSync(into, 'w');
  const child: ChildProcess = spawn('sh', ['-c', `${scripts.start} "$@"`, 'start', ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', out, out],
  });
  if (typeof out === 'number') closeSync(out);
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const findUrl = () => /listens on (http:\S+)\./.exec(said.out)?.[1];
  return { child, said, ended, findUrl };
}

/** Waits for a server to listen and gives its address. */
export async function waitForUrl({ said, findUrl, child }: ReturnType<typeof start>): Promise<string> {
  while (!findUrl()) {
    if (child.exitCode !== null) throw new Error(`ended: ${said.out}${said.err}`);
    await sleep(10);
  }
  return findUrl() ?? '';
}

/** The processes that a process started. */
export async function listChildren({ pid }: ChildProcess): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(' ').filter(Boolean);
}
