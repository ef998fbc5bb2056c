import type { Listing } from '../../model/listing.ts';
import { formatSecond } from '../../views/words/figures.ts';
import type { Cell, Style } from './page.ts';

const STATE_STYLES: Readonly<Record<Listing['state'], Style>> = { live: 'green', held: 'yellow', delisted: 'red' };

/** Returns the cell of a listing's state, coloured on a terminal. */
export function getStateCell(state: Listing['state']): Cell {
  return { text: state, style: STATE_STYLES[state] };
}

/** Writes a time for the operator: `2026-11-20 12:00:05 UTC`; a dash for none. */
export function formatTime(time: string | null): string {
  return time === null ? '–' : formatSecond(time);
}

/** Writes a size in bytes: `812 B`, `4.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}
