import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Processes that are running for a measurement: none outlives it. */
const running = new Set<ChildProcess>();
let isWatching = false;

/** What a process is given besides its arguments. */
export interface ChildOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly stdout?: 'pipe' | 'ignore';
  readonly stderr?: 'pipe' | 'inherit' | 'ignore';
  /** Whether it talks to this process by messages. */
  readonly ipc?: boolean;
}

/** Starts a process that is killed when this one ends, however it ends. */
export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): ChildProcess {
  const { stdout = 'ignore', stderr = 'inherit', ipc = false, env = process.env, ...rest } = options;
  const stdio: StdioOptions = ['ignore', stdout, stderr, ...(ipc ? ['ipc' as const] : [])];
  const child = spawn(command, args, { ...rest, env, stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  watchEnd();
  return child;
}

/** Runs a process to its end. Throws with what it said on standard error where it fails. */
export async function runChild(command: string, args: readonly string[], options: ChildOptions = {}): Promise<void> {
  await waitForEnd(startChild(command, args, { ...options, stderr: 'pipe' }));
}

/** Waits for the end of a process whose standard error is a pipe. Throws with what it said there where it fails. */
export async function waitForEnd(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000);
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${signal ?? code}: ${said}`);
}

/** Asks a process to end, and waits for it. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function watchEnd(): void {
  if (isWatching) return;
  isWatching = true;
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
