import { type Caution, type CautionCode, type CautionSeverity, isFromStart } from '../../model/caution.ts';
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

/** Words for each caution. Each takes the day, which is empty if it is not known. */
const WORDS: Readonly<Record<CautionCode, (day: string) => string>> = {
  undelivered: (day) => `failed our paid call${on(day)}`,
  unrecognised: (day) => `our paid call brought something else${on(day)}`,
  payee_differs: (day) => `payee changed${on(day)}`,
  reads_differently: (day) => `402 reads two ways${since(day)}`,
  payee_announced: (day) => `new payee announced${on(day)}`,
  imitates_name: (day) => `name of another API${since(day)}`,
  price_above_record: (day) => `price rose${on(day)}`,
  withdrawn: (day) => `withdrawn${on(day)}`,
  probes_failing: (day) => `no valid 402${since(day)}`,
  prices_differ: (day) => `documents differ in price${since(day)}`,
  never_seen: (day) => `declared${day && ` ${day}`}, not seen yet`,
  payee_rotates: (day) => `payee rotates${since(day)}`,
};

const on = (day: string) => day && ` on ${day}`;
const since = (day: string) => day && ` since ${day}`;

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
  return `${extent}${WORDS[code](at === null ? '' : formatDay(at))}`;
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
