import { z } from 'zod';

/** What a provider can be told of its listings, by a webhook on its own host. */
export const NOTICE_KINDS = ['failing', 'price_changed', 'caution', 'proof_expires', 'removed'] as const;
export const noticeKind = z.enum(NOTICE_KINDS);
export type NoticeKind = z.infer<typeof noticeKind>;

/** What a provider's file asks to be told. */
export interface StatedNotify {
  /** Address on the provider's own host. */
  readonly webhook: string;
  readonly on: readonly NoticeKind[];
  /** Any text; another one asks for a test event. Null for none. */
  readonly test: string | null;
}
