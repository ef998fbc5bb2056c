import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../src/errors.ts';

const GUARD = fileURLToPath(new URL('./anvil-guard.ts', import.meta.url));
const START_TIMEOUT_MS = 20_000;

/** A chain in a process on loopback, which ends with this process in any case. */
export interface AnvilProcess {
  readonly rpcUrl: string;
  /** Process id of the guard, which ends together with the chain. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts anvil on a free port of loopback. Throws `unavailable` with its last output if it does not start.
 */
export async function startAnvil(parameters: readonly string[] = []): Promise<AnvilProcess> {
  const all = ['--host', '127.0.0.1', '--port', '0', '--accounts', '1', ...parameters];
  const guard = spawn(process.execPath, [GUARD, findAnvil(), ...all], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, because Ctrl-C on a terminal would end the chain before the parent has finished.
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
    // A process that does not stop the chain can end all the same, and the chain ends with it.
    for (const handle of [guard, guard.stdin, guard.stdout, guard.stderr]) if ('unref' in handle) handle.unref();
    return { rpcUrl: `http://127.0.0.1:${port}`, pid: guard.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the port that anvil listens on. Its later output is read and dropped, because anvil would stop at a full pipe. */
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

/** Finds the program in the package for this platform. The package's own command is a Node process around it. */
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
