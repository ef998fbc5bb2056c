import type { Finding } from '../model/finding.ts';
import { buildFinding, FINDING_CODES, type FindingCode, type Note } from './finding-codes.ts';

/** What is said once of a whole document, with a count, instead of of each of its items. */
const GENERAL: ReadonlySet<FindingCode> = new Set([
  ...(['usd_as_usdc', 'network_assumed', 'protocol_assumed', 'amount_as_number', 'method_assumed'] as const),
  ...(['duplicate', 'schemas_left_out', 'resource_without_terms', 'no_payment_info'] as const),
]);

/** The findings of one item while it is being read. */
export interface ItemFindings {
  note: Note;
  /** Ends the reading: the item is not taken, and this says why. */
  refuse: (code: FindingCode, message?: string) => void;
  /** Ends the reading: the item is taken, with what was noted. */
  keep: () => void;
}

export interface DocumentFindings {
  openItem: (item: string) => ItemFindings;
  /** Says something of the document. */
  note: Note;
  /** Counts something that is said of the document as a whole. */
  count: (code: FindingCode, times?: number) => void;
  /** Takes over what was found in another document. */
  add: (found: readonly Finding[]) => void;
  /** Lists the findings: those of the document first, then the items' in their order. */
  list: () => Finding[];
}

/** Opens the findings of a document, under the name that it has on record. */
export function openDocumentFindings(name: string): DocumentFindings {
  const counts = new Map<FindingCode, number>();
  const ofDocument = new Map<string, Finding>();
  const ofItems: Finding[] = [];
  const count = (code: FindingCode, times = 1) => counts.set(code, (counts.get(code) ?? 0) + times);

  function openItem(item: string): ItemFindings {
    const notes = new Map<string, Finding>();
    return {
      note: (code, message = FINDING_CODES[code]) => {
        notes.set(GENERAL.has(code) ? code : `${code} ${message}`, buildFinding('noted', code, item, message));
      },
      refuse: (code, message) => {
        ofItems.push(buildFinding('refused', code, item, message));
      },
      keep: () => {
        for (const finding of notes.values()) {
          const code = finding.code as FindingCode;
          if (GENERAL.has(code)) count(code);
          else ofItems.push(finding);
        }
      },
    };
  }

  function list(): Finding[] {
    const general = [...counts].map(([code, times]) =>
      buildFinding('noted', code, name, `${FINDING_CODES[code].slice(0, -1)} (${times}).`),
    );
    return [...ofDocument.values(), ...general, ...ofItems];
  }

  return {
    openItem,
    note: (code, message) => {
      ofDocument.set(code, buildFinding('noted', code, name, message));
    },
    count,
    add: (found) => {
      ofItems.push(...found);
    },
    list,
  };
}
