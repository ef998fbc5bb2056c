import cliProgress from 'cli-progress';
import type { Output } from './page.ts';
import { getPrintable } from './printable.ts';

const { Format, SingleBar } = cliProgress;

/** Shows the progress of long work: units done, and the total if known. */
export interface Progress {
  update(done: number, total?: number): void;
  /** Writes a note above the progress. */
  note(text: string): void;
  stop(): void;
}

/** Time between two lines without a terminal, in milliseconds. */
const LINE_INTERVAL_MS = 2000;

/**
 * Opens a progress display on `output`: a bar with count and remaining time on a terminal, a line every two seconds
 * elsewhere. After `stop` it can be used again for similar work.
 */
export function openProgress(output: Output, label: string, unit: string): Progress {
  const bar = new SingleBar({
    stream: output,
    format: (options, { progress, value, total, eta }, { isTotalKnown }) => {
      if (!isTotalKnown) return `${label}: ${value} ${unit}`;
      const start = output.isTTY ? `${label} ${Format.BarFormat(progress, options)}` : `${label}:`;
      // `eta` is a word where no time passed, or nothing was done since.
      const left = Number.isFinite(Number(eta)) ? `, ${Format.TimeFormat(eta, options, 5)} left` : '';
      return `${start} ${value} of ${total} ${unit}${left}`;
    },
    noTTYOutput: true,
    notTTYSchedule: LINE_INTERVAL_MS,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
    linewrap: true,
  });
  let isShown = false;
  const stop = () => {
    if (isShown) bar.stop();
    isShown = false;
  };
  return {
    update(done, total) {
      if (done === 0) return;
      const payload = { isTotalKnown: total !== undefined };
      if (!isShown) bar.start(total ?? done, done, payload);
      bar.setTotal(total ?? done);
      bar.update(done, payload);
      isShown = true;
    },
    note(text) {
      stop();
      output.write(`${getPrintable(text)}\n`);
    },
    stop,
  };
}
