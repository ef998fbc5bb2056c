import { SingleBar } from 'cli-progress';
import type { Output } from './page.ts';
import { getPrintable } from './printable.ts';

/** Shows the progress of long work: units done, and the total if known. The first update sets where it began. */
export interface Progress {
  update(done: number, total?: number): void;
  /** Writes a note above the progress. */
  note(text: string): void;
  stop(): void;
}

/** Shortest time between two plain lines without a terminal, in milliseconds. */
const LINE_INTERVAL_MS = 2000;

/** The count and time at which work began. */
interface Beginning {
  done: number;
  ms: number;
}

/**
 * Opens a progress display on `output`: a bar with count, rate and remaining time on a terminal, plain lines elsewhere.
 * After `stop` it can be used again for similar work. `now` returns milliseconds.
 */
export function openProgress(output: Output, label: string, unit: string, now: () => number): Progress {
  return output.isTTY ? openBar(output, label, unit, now) : openLines(output, label, unit, now);
}

function openBar(output: Output, label: string, unit: string, now: () => number): Progress {
  let isShown = false;
  let began: Beginning | undefined;
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
      began ??= { done, ms: now() };
      const pace = formatPace(done - began.done, total - done, now() - began.ms);
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
      began = undefined;
    },
  };
}

function openLines(output: Output, label: string, unit: string, now: () => number): Progress {
  let began: Beginning | undefined;
  let written = now();
  let pending: string | undefined;
  const write = (line: string) => output.write(`${getPrintable(line)}\n`);
  return {
    update(done, total) {
      began ??= { done, ms: now() };
      if (done === 0) return;
      const known = total === undefined ? '' : ` of ${total}`;
      const pace = formatPace(done - began.done, (total ?? done) - done, now() - began.ms);
      pending = `${label}: ${done}${known} ${unit}${pace}`;
      if (now() - written < LINE_INTERVAL_MS) return;
      write(pending);
      written = now();
      pending = undefined;
    },
    note: write,
    stop() {
      if (pending !== undefined) write(pending);
      pending = undefined;
      began = undefined;
    },
  };
}

/** Describes the rate and the remaining time; empty before there is any progress. */
function formatPace(done: number, left: number, elapsedMs: number): string {
  if (done <= 0 || elapsedMs <= 0) return '';
  const rate = (done * 1000) / elapsedMs;
  const pace = `, ${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s`;
  if (left <= 0) return pace;
  const seconds = Math.ceil(left / rate);
  return `${pace}, ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}
