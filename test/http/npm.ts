import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute, makeTerms } from '../builders.ts';
import { SCRATCH } from '../scratch.ts';
import { declareListings, removeListing } from '../written.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Runs an npm script as its own process group, as a terminal or a supervisor does. All of it ends with the test. */
export function runNpm(args: readonly string[], settings: Record<string, string> = {}, folder = makeFolder()) {
  const ran = spawnNpm(args, settings, folder);
  onTestFinished(ran.kill);
  return ran;
}

/** Runs an npm script in a folder as `runNpm` does, until `kill` is called. */
export function spawnNpm(args: readonly string[], settings: Record<string, string>, folder: string) {
  const child = spawn('npm', args, {
    cwd: ROOT,
    detached: true,
    env: {
      ...process.env,
      // npm of the machine, Node of this test.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      BASE_URL: 'http://catalogue.example',
      CATALOGUE: join(folder, 'catalogue.sqlite'),
      SITE: join(folder, 'site'),
      PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const kill = () => {
    for (const pid of listProcesses(child)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  };
  const find = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(said)) {
      if (child.exitCode !== null) throw new Error(`ended: ${said}`);
      await sleep(20);
    }
    return pattern.exec(said)?.[1] ?? '';
  };
  return { child, find, kill, getSaid: () => said };
}

/** Lists a process and all that it started, and what these started. */
export function listProcesses({ pid }: ChildProcess): number[] {
  const found = [pid ?? 0];
  for (const each of found) {
    const file = `/proc/${each}/task/${each}/children`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    found.push(...text.trim().split(' ').filter(Boolean).map(Number));
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    // What has ended and was not asked for by its parent yet is still listed.
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits until none of the processes is left. */
export async function waitForEnd(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await sleep(20);
}

/** Says whether something listens at the port of an address. */
export async function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isOpen;
}

/** A folder with a catalogue whose prober has something to do, and the provider that it asks. */
export interface ProbingFolder {
  readonly settings: { readonly CATALOGUE: string; readonly SITE: string; readonly [name: string]: string };
  /** Address of the provider. */
  readonly provider: string;
  /** Resolves when the provider gets a request. */
  waitForProbe(): Promise<void>;
  /** From now on the provider answers, or does not, which it does not at first. */
  setAnswers(answers: boolean): void;
  /** Adds a listing of the provider, which is due at once. */
  list(slug: string): Promise<void>;
  /** Removes a listing. */
  remove(slug: string): Promise<void>;
  close(): Promise<void>;
}

/** The challenge of a provider that asks for 0.0025 USDC, whatever was declared of it. */
const CHALLENGE = {
  x402Version: 1,
  error: 'payment required',
  accepts: [
    {
      ...{ scheme: 'exact', network: 'base', maxAmountRequired: '2500', asset: NETWORKS.base.usdc },
      ...{ payTo: makeTerms().pay_to, resource: 'http://127.0.0.1/v1/quote', description: '' },
      ...{ mimeType: 'application/json', maxTimeoutSeconds: 60 },
    },
  ],
};

/**
 * Makes a folder whose prober asks a provider as soon as it runs. It has a listing `example-prices`, and `others` of the same
 * provider. The first start in it writes the pages.
 */
export async function makeProbingFolder(others: readonly string[] = []): Promise<ProbingFolder> {
  const folder = mkdtempSync(join(SCRATCH, 'processes-'));
  let answers = false;
  const provider = createServer(({ url }, response) => {
    if (!answers) return;
    response.writeHead(url === '/v1/quote' ? 402 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(CHALLENGE));
  });
  const settings = {
    ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), SITE: join(folder, 'site') },
    ...{ PROBE: 'on', ALLOW_PRIVATE_NETWORKS: 'on', BASE_URL: 'http://127.0.0.1:4321' },
  };
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const address = provider.address();
  const base_url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  // The prober is a process with the clock of the machine.
  const now = new Date().toISOString();
  const catalogue = await openCatalogue(settings.CATALOGUE, { identity: IDENTITY, at: now });
  const declare = (slug: string, address: string) =>
    makeDeclaration({ slug, base_url: address, routes: [makeRoute({ path: '/v1/quote' })] });
  const first = declare('example-prices', base_url);
  await declareListings(catalogue, [first, ...others.map((slug) => declare(slug, `${base_url}/${slug}`))], now);
  return {
    settings,
    provider: base_url,
    waitForProbe: async () => void (await once(provider, 'request')),
    setAnswers: (given) => {
      answers = given;
    },
    list: async (slug) => {
      await declareListings(catalogue, [declare(slug, `${base_url}/${slug}`)], new Date().toISOString());
    },
    remove: (slug) => removeListing(catalogue, slug, { by: 'operator', reason: 'test' }, new Date().toISOString()),
    close: async () => {
      await catalogue.close();
      provider.closeAllConnections();
      provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Sends a signal to a server under npm while somebody is in the middle of a request, and returns, once all its processes have
 * ended, whether the port is still taken. Ctrl-C reaches npm and Node both, a signal npm alone.
 */
export async function stopInFlight(
  { child, url }: { child: ChildProcess; url: string },
  how: NodeJS.Signals | 'Ctrl-C',
): Promise<boolean> {
  const slow = connect(Number(new URL(url).port), '127.0.0.1');
  slow.on('error', () => undefined).write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{');
  onTestFinished(() => void slow.destroy());
  await once(slow, 'connect');
  const pids = listProcesses(child);
  if (how === 'Ctrl-C') process.kill(-(child.pid ?? 0), 'SIGINT');
  else child.kill(how);
  await waitForEnd(pids);
  return await isListening(url);
}
