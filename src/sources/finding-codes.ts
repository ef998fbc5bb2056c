import type { Finding } from '../model/declaration.ts';
import { FINDING_SECTIONS, type FindingCode } from '../model/finding.ts';

export type { FindingCode };

/** Meaning of each code, in one sentence. */
export const FINDING_CODES = Object.fromEntries(
  Object.values(FINDING_SECTIONS).flatMap(({ codes }) =>
    Object.entries(codes).map(([code, { meaning }]) => [code, meaning]),
  ),
) as Readonly<Record<FindingCode, string>>;

/** Builds a finding with one of the codes above. `place` is a JSON pointer, or a line, in what the item names. */
export function buildFinding(
  severity: Finding['severity'],
  code: FindingCode,
  item: string,
  message: string = FINDING_CODES[code],
  place?: string,
): Finding {
  return { code, severity, item, message, ...(place !== undefined && { place }) };
}

/** The reason why something is not taken. */
export interface Refusal {
  code: FindingCode;
  message: string;
  /** JSON pointer of the fault, from the refused thing on. */
  place?: string;
}

/** Notes something about the item or file that is being read, and its place: a JSON pointer from the item on. */
export type Note = (code: FindingCode, message?: string, place?: string) => void;

/** Returns a function that notes places below `prefix`, a JSON pointer. */
export function noteBelow(note: Note, prefix: string): Note {
  return (code, message, place = '') => note(code, message, `${prefix}${place}`);
}

/** Writes keys and indexes as a JSON pointer (RFC 6901). */
export function formatPointer(...parts: (string | number)[]): string {
  return parts.map((part) => `/${String(part).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
