import { CAUTIONS, type Caution, type CautionCode, type CautionSeverity, isFromStart } from '../../model/caution.ts';
import { formatDay } from './figures.ts';

/** Standing of a listing or a route in a few words: the same in lists, on pages, in badges and in pictures. */
export interface Standing {
  /**
   * `danger`: pay nothing. `proved`, `partly`: all or some of it was paid for by this service and delivered. `plain`: neither.
   */
  readonly tone: 'danger' | 'proved' | 'partly' | 'plain';
  /** The event with its day: `failed our paid call on 2026-11-14`, `2 of 5 routes verified, 2026-11-20`. */
  readonly text: string;
}

/** Cautions that already imply that nothing is proved. */
const UNPROVED: readonly CautionCode[] = ['withdrawn', 'probes_failing', 'never_seen'];

const UNVERIFIED: Standing = { tone: 'plain', text: 'unverified' };

interface Held extends Pick<Caution, 'code' | 'since'> {
  readonly severity: CautionSeverity;
  /** Prefix if it holds only for a part of a listing: `1 of 2 routes `. */
  readonly extent?: string;
}

/** Writes a caution in a few words, with its day. */
export function formatStanding({ code, since: at, extent = '' }: Held): string {
  return `${extent}${CAUTIONS[code].formatStanding(at === null ? '' : formatDay(at))}`;
}

/**
 * Lists the standings of a listing or a route: first dangers, then its proof, then notices. A notice that holds
 * from the start is left out next to a danger or a proof. `proof` is null if nothing is proved.
 */
export function listStandings(cautions: readonly Held[], proof: Standing | null): readonly [Standing, ...Standing[]] {
  const dangers = cautions.filter(({ severity }) => severity === 'danger');
  const leads: Standing[] = [
    ...dangers.map((caution) => ({ tone: 'danger' as const, text: formatStanding(caution) })),
    ...(proof ? [proof] : []),
  ];
  const notices = cautions
    .filter(({ code, severity }) => severity === 'notice' && (leads.length === 0 || !isFromStart({ code })))
    .toSorted((a, b) => Number(UNPROVED.includes(b.code)) - Number(UNPROVED.includes(a.code)));
  const isSaid = leads.length > 0 || notices.some(({ code }) => UNPROVED.includes(code));
  const plain = notices.map((caution) => ({ tone: 'plain' as const, text: formatStanding(caution) }));
  const [first = UNVERIFIED, ...others] = [...leads, ...(isSaid ? [] : [UNVERIFIED]), ...plain];
  return [first, ...others];
}
