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

/** Where a work began: at which count, and when. */
interface Beginning {
  done: number;
  ms: number;
}

/**
 * Opens the progress of a work on `output`: a bar with count, rate and time left on a terminal, plain lines elsewhere.
 * After `stop` it can follow another work of the same kind. `now` gives milliseconds.
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

/** Says how fast it goes and how long the rest will take; nothing before there is anything to go by. */
function formatPace(done: number, left: number, elapsedMs: number): string {
  if (done <= 0 || elapsedMs <= 0) return '';
  const rate = (done * 1000) / elapsedMs;
  const pace = `, ${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s`;
  if (left <= 0) return pace;
  const seconds = Math.ceil(left / rate);
  return `${pace}, ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}
