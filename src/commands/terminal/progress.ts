import { SingleBar } from 'cli-progress';
import type { Output } from './page.ts';
import { getPrintable } from './printable.ts';

/** How far a long work is: units done, of how many where that is known. The first figure is where it began. */
export interface Progress {
  update(done: number, total?: number): void;
  /** Says something once, above the progress. */
  note(text: string): void;
  stop(): void;
}

/** At most so often a plain line is written where there is no terminal, in milliseconds. */
const LINE_INTERVAL_MS = 2000;

/**
 * Opens the progress of one work on `output`: a bar with count, rate and time left on a terminal, plain lines
 * elsewhere. `now` gives milliseconds.
 */
export function openProgress(output: Output, label: string, unit: string, now: () => number): Progress {
  return output.isTTY ? openBar(output, label, unit, now) : openLines(output, label, unit, now);
}

function openBar(output: Output, label: string, unit: string, now: () => number): Progress {
  const started = now();
  let isShown = false;
  let first: number | undefined;
  const bar = new SingleBar({
    stream: output,
    format: `${label} {bar} {value} of {total} ${unit}{pace}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
    linewrap: true,
  });
  return {
    update(done, total = Math.max(done, 1)) {
      first ??= done;
      const pace = formatPace(done - first, total - done, now() - started);
      if (!isShown) bar.start(total, done, { pace });
      isShown = true;
      bar.setTotal(total);
      bar.update(done, { pace });
    },
    note(text) {
      const wasShown = isShown;
      if (wasShown) bar.stop();
      output.write(`${getPrintable(text)}\n`);
      isShown = false;
    },
    stop() {
      if (isShown) bar.stop();
      isShown = false;
    },
  };
}

function openLines(output: Output, label: string, unit: string, now: () => number): Progress {
  const started = now();
  let first: number | undefined;
  let written = started;
  let pending: string | undefined;
  const write = (line: string) => output.write(`${getPrintable(line)}\n`);
  return {
    update(done, total) {
      first ??= done;
      const known = total === undefined ? '' : ` of ${total}`;
      pending = `${label}: ${done}${known} ${unit}${formatPace(done - first, (total ?? done) - done, now() - started)}`;
      if (now() - written < LINE_INTERVAL_MS) return;
      write(pending);
      written = now();
      pending = undefined;
    },
    note: write,
    stop() {
      if (pending !== undefined) write(pending);
      pending = undefined;
    },
  };
}

/** Says how fast it goes and how long the rest will take; nothing before there is anything to go by. */
function formatPace(done: number, left: number, elapsedMs: number): string {
  if (done <= 0 || elapsedMs <= 0) return '';
  const rate = (done * 1000) / elapsedMs;
  const pace = `, ${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s`;
  if (left <= 0) return pace;
  const seconds = Math.ceil(left / rate);
  return `${pace}, ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}
