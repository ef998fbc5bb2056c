import type { Serving } from '../../../scripts/market/loopback.ts';
import type { Market } from '../../../scripts/market/market.ts';
import type { Presented, Settlement } from '../../../scripts/market/providers/facilitation.ts';
import type { Payees } from '../../../scripts/market/providers/offers.ts';
import type { MarketNetwork, PayableRoute, ProviderPlan } from '../../../scripts/market/providers/route.ts';

export type Raw = Record<string, unknown>;

/** How to cheat: what differs from an honest seller. */
export interface Cheating {
  /** What it does, in a few words. */
  lie: string;
  /** Changes the offers of a challenge; `round` counts the challenges given, from 0. */
  changeOffers?(offers: Raw[], scene: Scene & { round: number }): unknown[];
  /** Makes the whole challenge, where changing the offers is not enough. */
  challenge?(scene: Scene, offers: unknown[], resource: string): Response;
  /** Answers a request that carries a payment; without, the payment is settled and the product handed over. */
  answerPaid?(sale: Sale): Response | Promise<Response>;
}

export interface CheatOptions {
  network?: MarketNetwork;
  version?: 1 | 2;
  /** Atomic USDC. */
  price?: number;
  /** Challenges that are honest before the cheating begins, for what changes between looking and paying. */
  honestFor?: number;
  /** What stands as the amount, where that is the cheat. */
  amount?: unknown;
}

export interface Scene {
  market: Market;
  options: Required<Omit<CheatOptions, 'amount'>> & Pick<CheatOptions, 'amount'>;
  payees: Payees;
  seller: CheatingSeller;
  closed: Promise<void>;
}

/** A request that came with a payment. */
export interface Sale extends Scene {
  payment: Raw;
  /** What an honest seller would ask. */
  offers: Raw[];
  /** The payment as the facilitator is shown it. */
  presented: Presented;
  /** Has the facilitator settle what was paid, whatever was asked for. */
  settle(): Promise<Settlement>;
  /** The product, with a receipt where one is given. */
  deliver(receipt?: Settlement): Response;
  /** Asks for payment, as an honest seller would. */
  askAgain(offers?: Raw[]): Response;
}

/** A seller that cheats, open on loopback. */
export interface CheatingSeller extends Serving {
  readonly plan: ProviderPlan;
  readonly route: PayableRoute;
  readonly payees: Payees;
  /** Its OpenAPI document, in which it is honest. */
  readonly documentUrl: string;
  /** The requests it got for its route, in order. */
  readonly asked: { isPaid: boolean; headers: Record<string, string> }[];
  /** What settling came to, each time it tried. */
  readonly settlements: Settlement[];
  /** Settles what it kept until now; for those that settle late. */
  settleKept(): Promise<Settlement[]>;
  readonly kept: (() => Promise<Settlement>)[];
  /** Another origin that it sends buyers to, and what came there; for those that do. */
  elsewhere: { url: string; asked: Record<string, string>[] } | undefined;
}
