import { z } from 'zod';
import type { Category } from '../../model/catalogue.ts';
import { caution } from '../../model/caution.ts';
import { type Change, change } from '../../model/change.ts';
import { getHost, type Listing, type LiveListing, reliability, slug } from '../../model/listing.ts';
import { networkEntry, networkKey } from '../../model/network.ts';
import { correctedReceipt } from '../../model/payment.ts';
import type { Route } from '../../model/route.ts';
import { listedSource, listingSaidBy } from '../../model/source.ts';
import type { Site } from '../site.ts';
import { agentItem, buildAgentItem } from './item.ts';
import { agentRoute, buildPublicRoute, type PublicRoute } from './route-record.ts';

/** The public rest of a delisted listing: its identity, and author, reason and time of its removal. */
export const tombstone = z
  .object({
    slug,
    id: z.uuid(),
    title: z.string(),
    host: z.string().describe('Host that it was called at'),
    delisted_at: z.iso.datetime(),
    delisted_by: z.enum(['operator', 'provider', 'rule']),
    reason: z.string(),
  })
  .meta({ id: 'Tombstone' });
export type Tombstone = z.infer<typeof tombstone>;

/** The public rest of a delisted listing: its tombstone, its category, and its routes, so that calls of them are recognised. */
export interface RemovedListing {
  readonly tombstone: Tombstone;
  readonly base_url: string;
  readonly category: Category;
  readonly routes: readonly Pick<Route, 'id' | 'method' | 'path'>[];
}

/** Builds the tombstone of a listing; undefined while it is not delisted. */
export function findTombstone(listing: Listing): Tombstone | undefined {
  if (listing.state !== 'delisted') return undefined;
  return {
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    host: getHost(listing.base_url),
    delisted_at: listing.state_at ?? listing.updated_at,
    delisted_by: listing.state_by ?? 'rule',
    reason: listing.state_reason ?? 'unknown',
  };
}

const evidenceSource = listedSource.meta({ id: 'EvidenceSource' });

/** The answer of `GET /agent/listings/{slug}`: everything on record about one live listing. */
export const agentListing = z
  .object({
    revision: z.int().nonnegative().describe('Catalogue revision of its latest change'),
    listing: agentItem.extend({
      description: z.string().describe("Provider's text"),
      category_inferred: z.boolean().describe('True when no source names the category'),
      mcp_endpoint: z.url().nullable().describe("Provider's own MCP server"),
      docs_url: z.url().nullable(),
      primary_network: networkKey.describe(
        'The network that it is shown under, whether or not payment on it is advertised',
      ),
      network_entries: z.array(networkEntry),
      reliability,
      sources: z
        .array(evidenceSource)
        .describe(
          'Who claims this, the one that is believed first at the beginning, and when it was seen; null is a bare claim',
        ),
      said_by: listingSaidBy.describe(
        'For each fact the place of its source in `sources`; absent for what no source says',
      ),
      listed_at: z.iso.datetime(),
      listing_cautions: z.array(caution).describe('What speaks against it as a whole; its routes carry their own'),
      corrections: z.array(correctedReceipt).describe('Receipts that the operator corrected, with the reason'),
      routes: z.array(agentRoute),
    }),
    routes_total: z.int().nonnegative().describe('How many routes it has; `routes` has those of one page'),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    decisions: z.array(change).describe('Why the listing stands as it does, oldest first'),
  })
  .meta({ id: 'AgentListing' });
export type AgentListing = z.infer<typeof agentListing>;

/** The answer for a delisted listing, with status 410. */
export const goneProblem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.literal(410),
    code: z.literal('gone'),
    detail: z.string(),
    tombstone,
    decisions: z.array(change).describe('Why the listing stands as it does, oldest first'),
  })
  .meta({ id: 'GoneProblem' });

/** A live listing in the code of the public side, without its routes. It begins with its short form. */
export type PublicHead = Omit<AgentListing['listing'], 'routes'>;

/** A live listing in the code of the public side, with all its routes: the content of `GET /agent/listings/{slug}`. */
export type PublicListing = PublicHead & { readonly routes: PublicRoute[] };

/** Builds the public form of a live listing. */
export function buildPublicListing(listing: LiveListing, site: Pick<Site, 'baseUrl'>): PublicListing {
  return {
    ...buildAgentItem(listing, site),
    description: listing.description,
    category_inferred: listing.category_inferred,
    mcp_endpoint: listing.mcp_endpoint,
    docs_url: listing.docs_url,
    primary_network: listing.primary_network,
    network_entries: listing.networks,
    reliability: listing.reliability,
    sources: listing.sources,
    said_by: listing.said_by,
    listed_at: listing.listed_at,
    listing_cautions: listing.cautions,
    corrections: listing.corrections,
    routes: listing.routes.map((entry) => buildPublicRoute(listing.base_url, entry)),
  };
}

/** The parts of a listing's document besides the routes. */
interface Around {
  /** JSON of `PublicHead`. */
  readonly head: string;
  /** Revision of its latest change. */
  readonly revision: number;
  /** Slugs of listings of the same product at other addresses. */
  readonly sameProduct: readonly string[];
  /** Number of its routes in all. */
  readonly routesTotal: number;
  readonly nextCursor?: string | undefined;
  readonly decisions: readonly Change[];
}

/** Joins the document of a listing (JSON of `AgentListing`) from its parts and the routes to show, each JSON of `AgentRoute`. */
export function joinListing(routes: readonly string[], { head, revision, sameProduct, ...around }: Around): string {
  const same = sameProduct.length > 0 ? `"same_product":${JSON.stringify(sameProduct)},` : '';
  const listing = `{${same}${head.slice(1, -1)},"routes":[${routes.join(',')}]}`;
  const rest = {
    routes_total: around.routesTotal,
    ...(around.nextCursor !== undefined && { next_cursor: around.nextCursor }),
    decisions: around.decisions,
  };
  return `{"revision":${revision},"listing":${listing},${JSON.stringify(rest).slice(1)}`;
}
