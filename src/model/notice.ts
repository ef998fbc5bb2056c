import { z } from 'zod';

/** What a provider can be told of its listings, by a webhook on its own host, and when. */
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

/** What a provider's file asks to be told. */
export interface StatedNotify {
  /** Address on the provider's own host. */
  readonly webhook: string;
  readonly on: readonly NoticeKind[];
  /** Any text; another one asks for a test event. Null for none. */
  readonly test: string | null;
}
