import { readFileSync } from 'node:fs';
import { listFamily, readUsage } from '../../../scripts/bench/world.ts';

/** Memory of a process at a time, in seconds and MB. */
export interface MemorySample {
  readonly seconds: number;
  readonly mb: number;
}

/** Reads what a process holds, in MB. Undefined where it is not there, or there is no `/proc`. */
export function readMb(pid: number | undefined): number | undefined {
  const rss = pid === undefined ? undefined : readUsage(pid).rss;
  return rss === undefined ? undefined : rss / 1e6;
}

/** Finds the child of this process that runs a script of this name. */
export function findChild(script: string): number | undefined {
  return listFamily(process.pid).find((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(script);
    } catch (error) {
      if (error instanceof Error && 'code' in error && /^(ENOENT|ESRCH)$/.test(String(error.code))) return false;
      throw error;
    }
  });
}

/** Gives by how much memory grows over the second half of some samples, in MB, by the line that fits them best. */
export function getGrowth(samples: readonly MemorySample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const getMean = (pick: (sample: MemorySample) => number) =>
    half.reduce((sum, sample) => sum + pick(sample), 0) / half.length;
  const [time, mb] = [getMean(({ seconds }) => seconds), getMean((sample) => sample.mb)];
  const covariance = getMean((sample) => (sample.seconds - time) * (sample.mb - mb));
  const variance = getMean(({ seconds }) => (seconds - time) ** 2);
  return (covariance / variance) * ((half.at(-1)?.seconds ?? 0) - (half[0]?.seconds ?? 0));
}

const [WIDTH, HEIGHT] = [72, 12];

/** Plots memory over time in characters, with its growth over the second half. */
export function plotMemory(name: string, samples: readonly MemorySample[]): string {
  const title = `Memory of the ${name}, ${getGrowth(samples).toFixed(1)} MB more at the end of the second half`;
  const most = Math.max(...samples.map(({ mb }) => mb));
  const end = samples.at(-1)?.seconds ?? 1;
  const columns = Array.from({ length: WIDTH }, (_, column) => {
    const inside = samples.filter(({ seconds }) => Math.min(WIDTH - 1, Math.floor((seconds / end) * WIDTH)) === column);
    return inside.length === 0 ? -1 : Math.round((Math.max(...inside.map(({ mb }) => mb)) / most) * HEIGHT);
  });
  const rows = Array.from({ length: HEIGHT }, (_, row) => {
    const level = HEIGHT - row;
    const label = level === HEIGHT ? `${most.toFixed(0)} MB` : '';
    return `${label.padStart(8)} │${columns.map((height) => (height === level ? '●' : ' ')).join('')}`;
  });
  const axis = `${'0'.padStart(8)} └${'─'.repeat(WIDTH)}`;
  return [title, ...rows, axis, `${`${(end / 60).toFixed(1)} min`.padStart(WIDTH + 10)}`].join('\n');
}
