import { z } from 'zod';
import { cautionCode } from '../../model/caution.ts';
import type { Change } from '../../model/change.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { readChangeFeed } from '../../published/change-feed.ts';
import { type LoggedChange, listLatestTellingChanges } from '../../published/changes.ts';
import type { Published } from '../../published/file.ts';
import { findTombstone } from '../../published/listings.ts';
import type { AtRevision } from '../../published/reading.ts';
import type { Tombstone } from '../../views/listing/record.ts';
import {
  describeChanges,
  isOfOtherPayee,
  listChangedRoutes,
  type PriceRange,
  readDetail,
} from '../../views/words/decision.ts';
import { countFitting, shortenText } from '../compact.ts';
import { buildTool } from '../tool.ts';

/** Changes on a page by default and at most. */
const LIMIT_DEFAULT = 15;
const LIMIT_MAX = 50;

/** Tokens of a page for each change asked for; a page with longer changes has fewer. */
const TOKENS_A_CHANGE = 90;

const input = z.strictObject({
  since: z.union([z.number(), z.string()]).optional().describe('Revision, cursor or date after which to list'),
  cursor: z.string().max(100).optional().describe('next_cursor or resume_cursor of an earlier answer'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
});
type Query = z.output<typeof input>;

/** Longest quotes, in UTF-16 units, and most routes that are named. */
const REASON_LENGTH = 100;
const ROUTE_LENGTH = 80;
const ROUTES = 3;

/** A change as the tool shows it. */
const compactChange = z.object({
  revision: z.int(),
  at: z.string(),
  slug: z.string(),
  kind: z.string(),
  sentence: z.string().describe('What changed and why'),
  reason: z.string().describe('Code, or words of who decided'),
  price_usdc: z.string().optional(),
  before_usdc: z.string().optional(),
  routes: z.array(z.string()).optional().describe("Some of its routes; provider's text"),
  payee_changed: z.boolean().optional(),
  caution: z.string().optional().describe('Code of the caution it is about'),
});
type CompactChange = z.infer<typeof compactChange>;

/** The public rest of a delisted listing. */
const compactTombstone = z.object({
  slug: z.string(),
  delisted_at: z.string(),
  delisted_by: z.string(),
  reason: z.string(),
});

/** Lists changes that buyers should know: listings that came or went, new verifications, and new prices or payees. */
export const listChangesTool = buildTool({
  title: 'What changed',
  description:
    'What changed in the catalogue that matters to buyers: listings added, delisted or put back, verifications, prices, ' +
    'payees, paid calls without product. Without since or cursor the latest; go on with next_cursor, come back later ' +
    'with resume_cursor.',
  input,
  output: z.object({
    revision: z.int(),
    next_cursor: z.string().optional(),
    resume_cursor: z.string().optional().describe('On the last page'),
    changes: z.array(compactChange),
    tombstones: z.array(compactTombstone).describe('Delisted now; reason in the words of who decided'),
  }),
  answer: (query, context) => {
    const { changes, next, resume } =
      query.since === undefined && query.cursor === undefined ? readLatest(query, context) : readPage(query, context);
    const slugs = [...new Set(changes.map(({ slug }) => slug))];
    return {
      revision: context.snapshot.revision,
      ...(next !== undefined && { next_cursor: next }),
      ...(resume !== undefined && { resume_cursor: resume }),
      changes: changes.map(buildCompactChange),
      tombstones: slugs.flatMap((slug) => {
        const tombstone = findTombstone(context.reading.published, slug);
        return tombstone ? [buildCompactTombstone(tombstone)] : [];
      }),
    };
  },
});

interface Page {
  readonly changes: readonly LoggedChange[];
  readonly next?: string | undefined;
  readonly resume?: string | undefined;
}

/** Returns the latest changes that fit, in the order in which they happened. */
function readLatest({ limit }: Query, { reading, snapshot }: AtRevision): Page {
  const latest = listLatestTellingChanges(reading.published, limit);
  const { resume } = readChangeFeed(reading.published, snapshot, { since: snapshot.revision, limit: 1 }, 'telling');
  return { changes: latest.slice(latest.length - getFitting(latest.toReversed(), limit, reading.published)), resume };
}

/** Returns the requested page, or its beginning if not all of it fits. */
function readPage(query: Query, { reading, snapshot }: AtRevision): Page {
  const read = (limit: number) => readChangeFeed(reading.published, snapshot, { ...query, limit }, 'telling');
  const page = read(query.limit);
  const fitting = getFitting(page.changes, query.limit, reading.published);
  return fitting < page.changes.length ? read(fitting) : page;
}

/** Returns how many changes, from the first, fit together with the tombstones of their listings. */
function getFitting(changes: readonly LoggedChange[], limit: number, published: Published): number {
  const seen = new Set<string>();
  const items = changes.map((change) => {
    const tombstone = seen.has(change.slug) ? undefined : findTombstone(published, change.slug);
    seen.add(change.slug);
    return [buildCompactChange(change), ...(tombstone ? [buildCompactTombstone(tombstone)] : [])];
  });
  return countFitting(items, TOKENS_A_CHANGE * limit);
}

/** Builds a change in the tool's form. */
function buildCompactChange(change: Change): CompactChange {
  const { revision, at, slug, kind, reason } = change;
  const routes = [...new Set(listChangedRoutes(change))];
  const priced = kind === 'priced' ? readDetail(kind, change) : undefined;
  const [price, before] = [formatRange(priced?.to), formatRange(priced?.from)];
  const code = cautionCode.safeParse(change.detail.code).data;
  return {
    revision,
    at,
    slug,
    kind,
    sentence: describeChanges([change]),
    reason: shortenText(reason, REASON_LENGTH),
    ...(price !== undefined && { price_usdc: price }),
    ...(before !== undefined && { before_usdc: before }),
    ...(routes.length > 0 && { routes: routes.slice(0, ROUTES).map((name) => shortenText(name, ROUTE_LENGTH)) }),
    ...(isOfOtherPayee(change) && { payee_changed: true }),
    ...(code && { caution: code }),
  };
}

function formatRange(range: PriceRange | undefined): string | undefined {
  return range && range.min !== null && range.max !== null ? formatPriceRange(range.min, range.max) : undefined;
}

/** Builds a tombstone in the tool's form. */
function buildCompactTombstone({ slug, delisted_at, delisted_by, reason }: Tombstone) {
  return { slug, delisted_at, delisted_by, reason: shortenText(reason, REASON_LENGTH) };
}
