import { SingleBar } from 'cli-progress';
import type { Output } from './page.ts';
import { getPrintable } from './printable.ts';

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
    format: `${label}${output.isTTY ? ' {bar}' : ':'} {value} of {total} ${unit}, {eta_formatted} left`,
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
    update(done, total = Math.max(done, 1)) {
      if (done === 0) return;
      if (isShown) {
        bar.setTotal(total);
        bar.update(done);
      } else bar.start(total, done);
      isShown = true;
    },
    note(text) {
      stop();
      output.write(`${getPrintable(text)}\n`);
    },
    stop,
  };
}
