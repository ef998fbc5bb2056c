import { z } from 'zod';

/** Kinds of events that a webhook of a provider can get, and when each is sent. */
export const NOTICES = {
  failing: 'a route fails that did not fail before: sent after the first probe that sees it',
  price_changed: 'readers see another price of a route, in millionths of a USDC',
  caution: 'something new is said against the listing or a route',
  proof_expires: 'a proof is a week from being too old to count, or a route is no longer verified',
  removed: 'the listing is no longer live',
} as const;
export type NoticeKind = keyof typeof NOTICES;
export const NOTICE_KINDS = Object.keys(NOTICES) as [NoticeKind, ...NoticeKind[]];
export const noticeKind = z.enum(NOTICE_KINDS);

/** Subscription as a provider's file states it. */
export interface StatedNotify {
  /** Address on the provider's own host. */
  readonly webhook: string;
  readonly on: readonly NoticeKind[];
  /** Text whose change asks for a test event; null without one. */
  readonly test: string | null;
}
