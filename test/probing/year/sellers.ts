import type { NetworkKey } from '../../../src/model/network.ts';
import type { PayeeKind } from '../../../src/model/route.ts';
import { type Answer, ask, down, type Phase, status } from './answers.ts';

/** The state that a listing must have at the end. */
export interface Expected {
  state: 'live' | 'delisted';
  by?: 'operator' | 'provider' | 'rule';
  /** Of the first route, in atomic USDC. */
  price: number;
  advertised: readonly NetworkKey[];
  payee?: PayeeKind;
  verified?: boolean;
  unscored?: boolean;
}

/** An action on a listing, and its time. */
export interface Deed {
  at: number;
  deed: 'declare' | 'verify' | 'delist_by_operator';
}

/** One kind of seller: how it answers over time, which actions happen, and the final state. */
export interface Story {
  timeline: Phase[];
  deeds?: Deed[];
  expected: Expected;
  /** What its provider's file states from an hour on; null: the file is removed. */
  door?: { from: number; listed: boolean | null }[];
  /** Its robots.txt, if it has one. */
  robots?: string;
  /** Its source states no price. */
  unpriced?: boolean;
}

const DAY = 24;
const from = (hours: number, answer: Answer): Phase => ({ from: hours, answer });
const live = (price: number, rest: Partial<Expected> = {}): Expected => ({
  ...{ state: 'live', price, advertised: ['base'] },
  ...rest,
});
const ruledOut = (price: number): Expected => ({ state: 'delisted', by: 'rule', price, advertised: [] });

/** Changes from one answer to another at a share of the time. */
const turn = (t: (share: number) => number, share: number, first: Answer, second: Answer): Phase[] => [
  from(0, first),
  from(t(share), second),
];

/** Random ups and downs, down for about `downShare` of the time, and up for the last `calm` hours. */
function flap(
  up: Answer,
  downs: readonly Answer[],
  {
    end,
    hours,
    downShare,
    calm = 0,
  }: { end: number; hours: readonly [number, number]; downShare: number; calm?: number },
  random: () => number,
): Phase[] {
  const timeline: Phase[] = [from(0, up)];
  for (let at = 24; ; ) {
    const length = hours[0] + random() * (hours[1] - hours[0]);
    const pause = (length / downShare) * (1 - downShare) * (0.5 + random());
    if (at + pause >= end - calm) return timeline;
    timeline.push(from(at + pause, downs[Math.floor(random() * downs.length)] ?? down()));
    timeline.push(from(Math.min(at + pause + length, end - calm), up));
    at += pause + length;
  }
}

type StoryMaker = (context: {
  t: (share: number) => number;
  end: number;
  price: number;
  random: () => number;
}) => Story;

const ALL_DOWNS = [down('timeout'), down('refused'), down('tls'), down('disconnected'), status(500)];

/** Every kind of seller. `t` returns the hour at a share of the time; `end` is the last hour. */
export const STORIES: Readonly<Record<string, StoryMaker>> = {
  steady: ({ price: p }) => ({ timeline: [from(0, ask(p))], expected: live(p, { payee: 'fixed' }) }),
  dearer: ({ t, price: p }) => ({ timeline: turn(t, 0.3, ask(p), ask(p * 3)), expected: live(p * 3) }),
  dearer_and_back: ({ t, price: p }) => ({
    timeline: [from(0, ask(p)), from(t(0.3), ask(p * 2)), from(t(0.6), ask(p))],
    expected: live(p),
  }),
  another_payee: ({ t, price: p }) => ({
    timeline: turn(t, 0.6, ask(p), ask(p, { payee: 2 })),
    deeds: [{ at: t(0.1), deed: 'verify' }],
    expected: live(p, { payee: 'fixed', verified: false }),
  }),
  dearer_verified: ({ t, price: p }) => ({
    timeline: turn(t, 0.5, ask(p), ask(p * 2)),
    deeds: [{ at: t(0.1), deed: 'verify' }],
    expected: live(p * 2, { verified: true }),
  }),
  rotating: ({ t, price: p }) => ({
    timeline: [from(0, ask(p, { payee: 'rotating' }))],
    deeds: [{ at: t(0.1), deed: 'verify' }],
    expected: live(p, { payee: 'rotating', verified: true }),
  }),
  begins_to_rotate: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p), ask(p, { payee: 'rotating' })),
    deeds: [{ at: t(0.1), deed: 'verify' }],
    expected: live(p, { payee: 'rotating', verified: true }),
  }),
  rotates_no_more: ({ t, price: p }) => ({
    timeline: turn(t, 0.25, ask(p, { payee: 'rotating' }), ask(p, { payee: 3 })),
    expected: live(p, { payee: 'fixed' }),
  }),
  on_solana_too: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p), ask(p, { networks: ['base', 'solana'] })),
    expected: live(p, { advertised: ['base', 'solana'] }),
  }),
  off_solana: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p, { networks: ['base', 'solana'] }), ask(p)),
    expected: live(p),
  }),
  moved_to_solana: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p), ask(p, { networks: ['solana'] })),
    deeds: [{ at: t(0.1), deed: 'verify' }],
    expected: live(p, { advertised: ['solana'], verified: false }),
  }),
  dead: ({ t, price: p }) => ({ timeline: turn(t, 0.4, ask(p), down('timeout')), expected: ruledOut(p) }),
  back_from_the_dead: ({ t, price: p }) => ({
    timeline: [from(0, ask(p)), from(t(0.2), down('refused')), from(t(0.75), ask(p * 2))],
    expected: live(p * 2),
  }),
  not_found: ({ t, price: p }) => ({ timeline: turn(t, 0.4, ask(p), status(404)), expected: ruledOut(p) }),
  free_now: ({ t, price: p }) => ({ timeline: turn(t, 0.4, ask(p), status(200)), expected: ruledOut(p) }),
  wildcard: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p), ask(p, { wildcard: true })),
    expected: ruledOut(p),
  }),
  elsewhere: ({ t, price: p }) => ({
    timeline: turn(t, 0.4, ask(p), ask(p, { elsewhere: true })),
    expected: ruledOut(p),
  }),
  never_answered: ({ price: p }) => ({ timeline: [from(0, status(500))], expected: ruledOut(p) }),
  wants_input: ({ price: p }) => ({ timeline: [from(0, status(400))], expected: live(p, { unscored: true }) }),
  wants_no_robots: ({ price: p }) => ({
    timeline: [from(0, ask(p))],
    robots: 'User-agent: *\nDisallow: /\n',
    expected: live(p, { unscored: true }),
  }),
  flapping: ({ end, price: p, random }) => ({
    timeline: flap(ask(p), ALL_DOWNS, { end, hours: [4, 20], downShare: 0.5, calm: 48 }, random),
    expected: live(p),
  }),
  out_for_hours: ({ end, price: p, random }) => ({
    timeline: flap(ask(p), ALL_DOWNS, { end, hours: [2, 11], downShare: 0.05, calm: 48 }, random),
    expected: live(p),
  }),
  out_for_days: ({ end, price: p, random }) => ({
    timeline: flap(ask(p), ALL_DOWNS, { end, hours: [2 * DAY, 8 * DAY], downShare: 0.25, calm: 48 }, random),
    expected: live(p),
  }),
  removed_and_back: ({ t, price: p }) => ({
    timeline: turn(t, 0.5, ask(p), ask(p * 2)),
    door: [
      { from: t(0.4), listed: false },
      { from: t(0.7), listed: true },
    ],
    expected: live(p * 2),
  }),
  removed_for_good: ({ t, price: p }) => ({
    timeline: [from(0, ask(p))],
    door: [
      { from: t(0.4), listed: false },
      { from: t(0.7), listed: null },
    ],
    expected: { state: 'delisted', by: 'provider', price: p, advertised: ['base'] },
  }),
  thrown_out: ({ t, price: p }) => ({
    timeline: [from(0, ask(p))],
    deeds: [{ at: t(0.4), deed: 'delist_by_operator' }],
    expected: { state: 'delisted', by: 'operator', price: p, advertised: ['base'] },
  }),
  limits_rates: ({ end, price: p, random }) => ({
    timeline: flap(
      ask(p),
      [status(429), status(429, 40_000)],
      { end, hours: [6, 30], downShare: 0.4, calm: 48 },
      random,
    ),
    expected: live(p),
  }),
  newcomer: ({ t, price: p }) => ({
    timeline: [from(0, ask(p))],
    deeds: [{ at: t(0.6), deed: 'declare' }],
    expected: live(p),
  }),
  unpriced: ({ price: p }) => ({ timeline: [from(0, ask(p))], unpriced: true, expected: live(p) }),
  just_gone: ({ end, price: p }) => ({
    timeline: [from(0, ask(p)), from(end - 5 * DAY, down('name_not_resolved'))],
    expected: live(p, { advertised: [] }),
  }),
};
