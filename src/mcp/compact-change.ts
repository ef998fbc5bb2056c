import { z } from 'zod';
import { cautionCode } from '../model/caution.ts';
import type { Change } from '../model/change.ts';
import { formatPriceRange } from '../model/usdc.ts';
import type { Tombstone } from '../views/listing/record.ts';
import { isOtherPayee, recordedRange, recordedTermsChange } from '../views/words/decision.ts';
import { shortenText } from './compact.ts';

/** Longest quotes, in UTF-16 units, and how many routes are named. */
const REASON_LENGTH = 100;
const ROUTE_LENGTH = 80;
const ROUTES = 3;

/** A change as the tool for changes shows it. */
export const compactChange = z.object({
  revision: z.int(),
  at: z.string(),
  slug: z.string(),
  kind: z.string(),
  reason: z.string().describe('Code, or words of who decided'),
  price_usdc: z.string().optional(),
  before_usdc: z.string().optional(),
  routes: z.array(z.string()).optional().describe("Some of its routes; provider's text"),
  payee_changed: z.boolean().optional(),
  caution: z.string().optional().describe('Code of the caution it is about'),
});
export type CompactChange = z.infer<typeof compactChange>;

/** What remains of a delisted listing. */
export const compactTombstone = z.object({
  slug: z.string(),
  delisted_at: z.string(),
  delisted_by: z.string(),
  reason: z.string(),
});

/** What of a change's detail the tool shows. */
const shownDetail = z.object({
  route: z.string().optional(),
  from: recordedRange.optional().catch(undefined),
  to: recordedRange.optional().catch(undefined),
  terms: z.array(recordedTermsChange).default([]).catch([]),
  code: cautionCode.optional().catch(undefined),
  added: z.array(z.string()).default([]).catch([]),
  cleared: z.array(z.string()).default([]).catch([]),
});

/** Builds the tool's form of a change. */
export function buildCompactChange({ revision, at, slug, kind, reason, detail }: Change): CompactChange {
  const { data } = shownDetail.safeParse(detail);
  const { route, from, to, terms = [], code, added = [], cleared = [] } = data ?? {};
  const named = kind === 'cautioned' ? added : cleared;
  const routes = new Set([...(route ? [route] : []), ...named, ...terms.map((one) => one.route)]);
  const [price, before] = kind === 'priced' ? [formatRange(to), formatRange(from)] : [];
  return {
    ...{ revision, at, slug, kind, reason: shortenText(reason, REASON_LENGTH) },
    ...(price !== undefined && { price_usdc: price }),
    ...(before !== undefined && { before_usdc: before }),
    ...(routes.size > 0 && { routes: [...routes].slice(0, ROUTES).map((name) => shortenText(name, ROUTE_LENGTH)) }),
    ...(terms.some(isOtherPayee) && { payee_changed: true }),
    ...(code && { caution: code }),
  };
}

/** Builds the tool's form of a tombstone. */
export function buildCompactTombstone({ slug, delisted_at, delisted_by, reason }: Tombstone) {
  return { slug, delisted_at, delisted_by, reason: shortenText(reason, REASON_LENGTH) };
}

function formatRange(range: z.infer<typeof recordedRange> | undefined): string | undefined {
  return range && range.min !== null && range.max !== null ? formatPriceRange(range.min, range.max) : undefined;
}
