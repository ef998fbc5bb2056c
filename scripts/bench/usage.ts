import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks of Linux's `/proc`, which are a hundredth of a second everywhere. */
const TICK_MS = 10;

/** What a process has used so far; all undefined where there is no `/proc`. */
export interface Usage {
  readonly cpuMs: number | undefined;
  /** Memory it holds now, and the most it ever held, in bytes. */
  readonly rss: number | undefined;
  readonly peak: number | undefined;
}

/** Reads what a process has used, all its threads together. Nothing is known of one that has ended. */
export function readUsage(pid: number): Usage {
  const stat = readProc(pid, 'stat');
  const status = readProc(pid, 'status');
  // The command's name, in parentheses, may hold blanks; user and system time are the 12th and 13th field behind it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const getKb = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
  return {
    cpuMs: fields && (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rss: getKb('VmRSS'),
    peak: getKb('VmHWM'),
  };
}

/**
 * Follows the memory of a process and of all that it starts while `work` goes on, and gives the sum of the most that each
 * held, in bytes: never less than what all held at once. Undefined where there is no `/proc`.
 */
export async function watchPeak(pid: number, work: Promise<unknown>): Promise<number | undefined> {
  const peaks = new Map<number, number>();
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const member of listFamily(pid)) peaks.set(member, readUsage(member).peak ?? peaks.get(member) ?? 0);
    await Promise.race([over, sleep(50)]);
  }
  await over;
  return peaks.size === 0 ? undefined : [...peaks.values()].reduce((sum, peak) => sum + peak, 0);
}

/** Lists a process and its descendants. */
export function listFamily(root: number): number[] {
  const tasks = listTasks(root);
  const children = tasks.flatMap((task) => (readProc(root, `task/${task}/children`) ?? '').trim().split(' '));
  const members = children.filter((child) => child !== '').flatMap((child) => listFamily(Number(child)));
  return tasks.length === 0 ? members : [root, ...members];
}

function listTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** There is no `/proc` here, or the process has ended. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}
