import { getRound } from '../../src/evidence/rounds.ts';
import type { NetworkKey } from '../../src/model/network.ts';
import { isPayable, type ProbeSample } from '../../src/model/probe.ts';
import type { PayeeKind } from '../../src/model/route.ts';
import type { Terms } from '../../src/model/terms.ts';
import { type Taken, workOut } from '../evidence/oracle.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A sample as a test recorded it. */
export type Recorded = Pick<ProbeSample, 'at' | 'outcome' | 'terms' | 'payee_rotates'> & { route: number };

/** What readers have to see of a listing, as far as samples decide it. */
export interface Seen {
  state: 'live' | 'delisted';
  prices: [number, number];
  advertised: NetworkKey[];
  band: string;
  score: number | null;
  verified: boolean;
  routes: {
    payee: PayeeKind | null;
    terms: [network: string, amount: number, payTo: string | null, since: string, current: boolean][];
  }[];
}

/** What was so before any sample. */
export interface Declared {
  routes: number;
  terms: Terms;
  /** Payee of the receipt that proves the first route on base; null where there is none. */
  receipt: string | null;
}

/** Says which rounds are ours, all hosts having answered lately: most of those heard fail. One listing is one host here. */
export function workOutOurs(listings: readonly (readonly Recorded[])[]): Set<number> {
  const ours = new Set<number>();
  const rounds = new Set(listings.flatMap((samples) => samples.map(({ at }) => getRound(at))));
  for (const round of [...rounds].sort((a, b) => a - b)) {
    const heard = listings
      .map((samples) => samples.filter(({ at, outcome }) => getRound(at) === round && outcome !== 'input_rejected'))
      .filter((samples) => samples.length > 0);
    const failing = heard.filter((samples) => !samples.some(({ outcome }) => isPayable(outcome))).length;
    // Where fewer than five ever answered, one that does shows that we can be reached.
    const canTell = listings.length >= 5 || failing === heard.length;
    if (canTell && failing * 2 > heard.length && (heard.length >= 5 || ours.has(round - 1))) ours.add(round);
  }
  return ours;
}

/** Works out what readers have to see, from all samples and from what they saw before. */
export function workOutSeen(
  { routes: count, terms: declared, receipt }: Declared,
  samples: readonly Recorded[],
  ours: ReadonlySet<number>,
  before: { state: Seen['state']; delisted_at: string },
): Seen {
  const taken = samples.map(
    ({ at, outcome, route }): Taken => ({ at, outcome, route_id: String(route), round: getRound(at) }),
  );
  const worked = workOut(taken, ours);
  const { failing, latest } = worked;
  const turns = worked.proven || count;
  const days = failing && latest ? (Date.parse(latest.at) - Date.parse(failing.since)) / DAY : 0;
  const isOut =
    before.state === 'live'
      ? days >= 14 && (failing?.failures ?? 0) >= Math.max(10, turns)
      : !isBack(worked, before.delisted_at);
  const routes = Array.from({ length: count }, (_, route) =>
    workOutRoute(samples.filter((one) => one.route === route)),
  );
  const current = routes.map(({ offers }) => {
    const standing = offers.filter((offer) => offer.current);
    return standing.length > 0 ? standing : [{ ...declared, current: true, since: '' }];
  });
  const isSilent = (route: number) =>
    (failing?.failures ?? 0) >= Math.max(3, turns) || (worked.routes.get(String(route))?.failures ?? 0) >= 3;
  const heard = current.flatMap((offers, route) => (isSilent(route) ? [] : offers));
  const amounts = current.flatMap((offers) => offers.map(({ amount }) => amount));
  const proving = routes[0]?.offers.filter((offer) => offer.current) ?? [];
  return {
    state: isOut ? 'delisted' : 'live',
    prices: [Math.min(...amounts), Math.max(...amounts)],
    advertised: (['base', 'solana'] as const).filter((key) => heard.some(({ network }) => network === key)),
    band: worked.band,
    score: worked.score,
    verified:
      receipt !== null &&
      (proving.length === 0 ||
        proving.some(({ network, pay_to }) => network === 'base' && (pay_to === null || pay_to === receipt))),
    routes: routes.map(({ payee, offers }) => ({
      payee,
      terms: [...offers.filter((one) => !one.current).slice(-20), ...offers.filter((one) => one.current)].map((one) => [
        ...([one.network, one.amount, one.pay_to, one.since, one.current] as const),
      ]),
    })),
  };
}

function isBack({ failing, routes }: ReturnType<typeof workOut>, delistedAt: string): boolean {
  const since = new Date(Date.parse(delistedAt) - 14 * DAY).toISOString();
  return !failing && [...routes.values()].some(({ valid_at }) => valid_at !== null && valid_at > since);
}

type Offer = Pick<Terms, 'network' | 'amount' | 'pay_to'> & { since: string; current: boolean };

/** Goes through the valid answers of one route: who is paid, and which offers stood from when on. */
function workOutRoute(samples: readonly Recorded[]): { payee: PayeeKind | null; offers: Offer[] } {
  let payee: PayeeKind | null = null;
  let offers: Offer[] = [];
  const payees: string[] = [];
  for (const { at, outcome, terms, payee_rotates } of samples) {
    if (!isPayable(outcome)) continue;
    payees.push(
      terms
        .map(({ network, pay_to }) => `${network}${pay_to}`)
        .sort()
        .join(),
    );
    payee = workOutPayee(payee, payee_rotates, payees);
    const asked = terms.map((offer) => ({ ...offer, pay_to: payee === 'rotating' ? null : offer.pay_to }));
    const isSame = (a: Offer | Terms, b: Offer | Terms) =>
      a.network === b.network && a.amount === b.amount && a.pay_to === b.pay_to;
    const ended = offers.map((one) => ({ ...one, current: one.current && asked.some((offer) => isSame(offer, one)) }));
    const begun = asked.filter((offer) => !offers.some((one) => one.current && isSame(offer, one)));
    offers = [
      ...ended,
      ...begun.map(({ network, amount, pay_to }) => ({ network, amount, pay_to, since: at, current: true })),
    ];
  }
  return { payee, offers };
}

function workOutPayee(before: PayeeKind | null, rotates: boolean | null, payees: readonly string[]): PayeeKind | null {
  if (rotates !== null) return rotates ? 'rotating' : 'fixed';
  if (before === 'rotating') {
    const twelve = payees.slice(-12);
    return twelve.length === 12 && twelve.every((one) => one === twelve[0]) ? 'fixed' : 'rotating';
  }
  const three = payees.slice(-3);
  if (three.length === 3 && new Set(three).size === 3) return 'rotating';
  if (before === null && payees.length > 1 && payees.at(-1) === payees.at(-2)) return 'fixed';
  return before;
}
