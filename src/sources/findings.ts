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

/** Findings that are reported once for the whole document, with a count, and not for each item. */
const DOCUMENT_WIDE: ReadonlySet<FindingCode> = new Set([
  ...(['usd_as_usdc', 'network_assumed', 'protocol_assumed', 'amount_as_number', 'method_assumed'] as const),
  ...(['duplicate', 'schemas_left_out', 'resource_without_terms', 'no_payment_info', 'price_of_file'] as const),
]);

/** Collects the findings of one item while it is being read. */
export interface ItemFindings {
  note: Note;
  /** Ends the item as refused, for this reason. */
  refuse: (code: FindingCode, message?: string, place?: string) => void;
  /** Ends the item as taken, and keeps its notes. */
  keep: () => void;
}

export interface DocumentFindings {
  openItem: (item: string) => ItemFindings;
  /** Notes something about the document. */
  note: Note;
  /** Counts a finding that is reported for the whole document, with the place of the first. */
  count: (code: FindingCode, times?: number, place?: string) => void;
  /** Adds the findings of another document. */
  add: (found: readonly Finding[]) => void;
  /** Lists the findings: first those of the document, then those of its items in their order. */
  list: () => Finding[];
}

/** Opens a collection for the findings of a document. `name` is its name on record. */
export function openDocumentFindings(name: string): DocumentFindings {
  const counts = new Map<FindingCode, number>();
  const ofDocument = new Map<string, Finding>();
  const ofItems: Finding[] = [];
  const places = new Map<FindingCode, string>();
  const count = (code: FindingCode, times = 1, place?: string) => {
    counts.set(code, (counts.get(code) ?? 0) + times);
    if (place !== undefined && !places.has(code)) places.set(code, place);
  };

  function openItem(item: string): ItemFindings {
    const notes = new Map<string, Finding>();
    return {
      note: (code, message = FINDING_CODES[code], place) => {
        const key = DOCUMENT_WIDE.has(code) ? code : `${code} ${message}`;
        if (!notes.has(key)) notes.set(key, buildFinding('noted', code, item, message, place));
      },
      refuse: (code, message, place) => {
        ofItems.push(buildFinding('refused', code, item, message, place));
      },
      keep: () => {
        for (const finding of notes.values()) {
          const code = finding.code as FindingCode;
          if (DOCUMENT_WIDE.has(code)) count(code, 1, finding.place);
          else ofItems.push(finding);
        }
      },
    };
  }

  function list(): Finding[] {
    const general = [...counts].map(([code, times]) =>
      buildFinding('noted', code, name, `${FINDING_CODES[code].slice(0, -1)} (${times}).`, places.get(code)),
    );
    return [...ofDocument.values(), ...general, ...ofItems];
  }

  return {
    openItem,
    note: (code, message, place) => {
      ofDocument.set(code, buildFinding('noted', code, name, message, place));
    },
    count,
    add: (found) => {
      ofItems.push(...found);
    },
    list,
  };
}
