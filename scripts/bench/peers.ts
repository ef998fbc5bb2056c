import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where programs are put that are got for measuring: in the project, and left out of version control. */
const PEERS_DIR = resolve(import.meta.dirname, '../../dist/peers');

/** Debian's packages of each program with what a bare Debian lacks of them, its place in them, and what shows that it runs. */
const PEERS = {
  nginx: { packages: ['nginx', 'nginx-common'], place: 'usr/sbin/nginx', proof: '-v' },
  hugo: { packages: ['hugo', 'libsass1'], place: 'usr/bin/hugo', proof: 'version' },
  wrk: { packages: ['wrk', 'libluajit-5.1-2', 'libluajit-5.1-common'], place: 'usr/bin/wrk', proof: '--version' },
} as const;

export type PeerName = keyof typeof PEERS;

/** A program that runs here, and the environment it needs. */
export interface Peer {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Finds a program: where `NGINX`, `HUGO` or `WRK` says, else on the PATH, else as it was got before. */
export function findPeer(name: PeerName): Peer | undefined {
  const folder = join(PEERS_DIR, name);
  const named = process.env[name.toUpperCase()];
  const candidates: Peer[] = [
    { command: named || name, env: process.env },
    ...(existsSync(folder) ? [getUnpacked(name, folder)] : []),
  ];
  return candidates.find((candidate) => isRunning(name, candidate));
}

/**
 * Finds a program, and gets it where it is missing: Debian's own packages are downloaded and unpacked, nothing is installed.
 * Undefined, and told why, where that does not work.
 */
export async function getPeer(name: PeerName, tell: (line: string) => void): Promise<Peer | undefined> {
  const known = findPeer(name);
  if (known) return known;
  try {
    await downloadPeer(name);
    const peer = getUnpacked(name, join(PEERS_DIR, name));
    if (isRunning(name, peer)) return peer;
    throw new Error(`${peer.command} does not run: a library that it needs may be missing.`);
  } catch (error) {
    const cause = error instanceof Error ? error.message.trim().split('\n').slice(0, 3).join(' ') : String(error);
    tell(`${name} cannot be had here, so what is measured with it is left out. ${cause}`);
    tell(`  Install it, name it in ${name.toUpperCase()}, or on Debian run apt-get update first.`);
    return undefined;
  }
}

/** Downloads the packages of a program and unpacks them into a folder of its own, which is there whole or not at all. */
async function downloadPeer(name: PeerName): Promise<void> {
  await mkdir(PEERS_DIR, { recursive: true });
  const folder = await mkdtemp(join(PEERS_DIR, '.unfinished-'));
  try {
    await run('apt-get', ['download', ...PEERS[name].packages], { cwd: folder });
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
      await run('dpkg-deb', ['-x', file, 'unpacked'], { cwd: folder });
    }
    await rm(join(PEERS_DIR, name), { recursive: true, force: true });
    await rename(join(folder, 'unpacked'), join(PEERS_DIR, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Libraries that came with the program are found in its own folder. */
function getUnpacked(name: PeerName, folder: string): Peer {
  const libraries = join(folder, 'usr/lib');
  const folders = existsSync(libraries) ? readdirSync(libraries).map((entry) => join(libraries, entry)) : [];
  const env = { ...process.env, LD_LIBRARY_PATH: folders.join(':') };
  return { command: join(folder, PEERS[name].place), env };
}

/** What does not run fails; wrk fails, with 1, after it has said its version, too. */
function isRunning(name: PeerName, { command, env }: Peer): boolean {
  try {
    execFileSync(command, [PEERS[name].proof], { env, stdio: 'ignore' });
    return true;
  } catch (error) {
    return name === 'wrk' && error instanceof Error && 'status' in error && error.status === 1;
  }
}
