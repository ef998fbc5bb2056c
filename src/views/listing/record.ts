import { z } from 'zod';
import { listNeeds } from '../../evidence/abilities.ts';
import { needs } from '../../model/ability.ts';
import { caution } from '../../model/caution.ts';
import { type Change, change } from '../../model/change.ts';
import { getHost, type Listing, type LiveListing, reliability, slug, webhookOffSince } from '../../model/listing.ts';
import { NETWORKS, networkEntry } from '../../model/network.ts';
import { correctedReceipt } from '../../model/payment.ts';
import { getRouteUrl, isToolPath, type Route, route } from '../../model/route.ts';
import { listedSource, listingSaidBy } from '../../model/source.ts';
import { recordedTerms } from '../../model/terms.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { type AgentItem, agentItem } from './item.ts';

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

export const agentTerms = recordedTerms
  .omit({ extra_needs: true })
  .extend({
    network_id: z.string().describe('CAIP-2 identifier, as x402 version 2 writes it'),
    amount: z.string().describe('Price of one request in atomic USDC (6 decimals), as x402 writes it'),
    amount_usdc: z.string().describe('The same as a decimal amount'),
    needs,
  })
  .meta({ id: 'AgentTerms' });

export const agentRoute = route
  .extend({
    url: z.string().describe('Where the route is called; fill in templates first'),
    terms: z.array(agentTerms),
  })
  .meta({ id: 'AgentRoute' });

export const evidenceSource = listedSource.meta({ id: 'EvidenceSource' });

/** The answer of `GET /agent/listings/{slug}`: everything on record about one live listing. */
export const agentListing = z
  .object({
    revision: z.int().nonnegative().describe('Catalogue revision that this answer is of'),
    listing: agentItem.extend({
      description: z.string().describe("Provider's text"),
      category_inferred: z.boolean().describe('True when no source names the category'),
      mcp_endpoint: z.url().nullable().describe("Provider's own MCP server"),
      docs_url: z.url().nullable(),
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
      webhook_off_since: webhookOffSince.optional(),
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

/**
 * Builds everything on record about a live listing and those of its routes that are given, with its short form and its
 * decisions; all but the revision.
 */
export function buildAgentListing(
  listing: LiveListing,
  {
    item,
    routesTotal,
    nextCursor,
    decisions,
  }: { item: AgentItem; routesTotal: number; nextCursor?: string | undefined; decisions: Change[] },
): Omit<AgentListing, 'revision'> {
  return {
    listing: {
      ...item,
      description: listing.description,
      category_inferred: listing.category_inferred,
      mcp_endpoint: listing.mcp_endpoint,
      docs_url: listing.docs_url,
      network_entries: listing.networks,
      reliability: listing.reliability,
      sources: listing.sources,
      said_by: listing.said_by,
      ...(listing.webhook_off_since && { webhook_off_since: listing.webhook_off_since }),
      listed_at: listing.listed_at,
      listing_cautions: listing.cautions,
      corrections: listing.corrections,
      routes: listing.routes.map((entry) => buildAgentRoute(listing, entry)),
    },
    routes_total: routesTotal,
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
    decisions,
  };
}

function buildAgentRoute(listing: Listing, entry: Route): z.infer<typeof agentRoute> {
  return {
    ...entry,
    url: getRouteUrl(listing.base_url, entry.path),
    terms: entry.terms.map(({ extra_needs, ...offer }) => ({
      ...offer,
      network_id: NETWORKS[offer.network].id,
      amount: String(offer.amount),
      amount_usdc: formatUsdc(offer.amount),
      needs: listNeeds({ ...offer, ...(extra_needs && { extra_needs }) }, { isTool: isToolPath(entry.path) }),
    })),
  };
}
