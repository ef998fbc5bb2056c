import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../src/errors.ts';

const GUARD = fileURLToPath(new URL('./anvil-guard.ts', import.meta.url));
const START_TIMEOUT_MS = 20_000;

/** A chain process on loopback that ends with this one, however this one ends. */
export interface AnvilProcess {
  readonly rpcUrl: string;
  /** The process ids of the guard and of what it guards end together; this is the guard's. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts anvil on a free port of loopback, as Base by its chain id. Throws `unavailable` where it does not come up, with
 * the last words it said.
 */
export async function startAnvil(parameters: readonly string[] = []): Promise<AnvilProcess> {
  const all = ['--host', '127.0.0.1', '--port', '0', '--chain-id', '8453', '--accounts', '1', ...parameters];
  const guard = spawn(process.execPath, [GUARD, findAnvil(), ...all], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that Ctrl-C on a terminal leaves the order of ending to the parent.
    detached: true,
  });
  const ended = once(guard, 'exit');
  guard.stdin.on('error', () => undefined);
  const stop = async () => {
    guard.ref();
    guard.stdin.end();
    await ended;
  };
  try {
    const port = await readPort(guard);
    // Whoever forgets to stop the chain still comes to an end, and with it the chain.
    for (const handle of [guard, guard.stdin, guard.stdout, guard.stderr]) if ('unref' in handle) handle.unref();
    return { rpcUrl: `http://127.0.0.1:${port}`, pid: guard.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Anvil says where it listens once it does; what it says later is read and dropped, or it would stop at a full pipe. */
async function readPort(guard: ChildProcess): Promise<string> {
  let said = '';
  const port = await new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), START_TIMEOUT_MS);
    const settle = (found: string | null) => {
      clearTimeout(timer);
      resolve(found);
    };
    const listen = (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-4096);
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (!found) return;
      guard.stdout?.off('data', listen).resume();
      guard.stderr?.off('data', listen).resume();
      settle(found);
    };
    guard.stdout?.on('data', listen);
    guard.stderr?.on('data', listen);
    guard.once('exit', () => settle(null));
  });
  if (port !== null) return port;
  throw new ServiceError('unavailable', `The local chain did not start: ${said.trim().split('\n').at(-1) ?? ''}`, {
    hint: 'Run npm ci again; the package @foundry-rs/anvil brings the chain for this platform.',
    reason: 'chain_not_started',
  });
}

/** The program itself inside the package for this platform: the package's own command is a Node process around it. */
function findAnvil(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const requireFrom = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'));
  try {
    return requireFrom.resolve(`${name}/bin/${program}`);
  } catch (error) {
    throw new ServiceError('unavailable', `There is no local chain for this platform: ${name} is not installed.`, {
      hint: 'Run npm ci without --omit=optional.',
      reason: 'chain_not_installed',
      cause: error,
    });
  }
}
