import { z } from 'zod';
import { getHost, type Listing, slug } from '../model/listing.ts';

/** What remains readable of a delisted listing: who it was, and who removed it, why and when. */
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
