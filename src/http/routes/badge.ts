import { ServiceError } from '../../errors.ts';
import { findTombstone, getItem } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { findRef } from '../../published/snapshot.ts';
import { buildBadge, buildGoneBadge } from '../../views/badge.ts';
import { buildDocument } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

const BADGE = /^\/badge\/(?<slug>[a-z0-9-]+)\.svg$/;

/** How long a browser or proxy may show a badge unasked, in seconds. */
const BADGE_SECONDS = 300;

/** Adds the badges of listings. That of a removed one says so, with 410. */
export function addBadgeRoute(get: Get, { published, site }: Reading): void {
  get(
    '/badge/:file',
    NO_QUERY,
    (_, { slug = '' }, snapshot) => {
      const facts = { type: 'image/svg+xml', maxAge: BADGE_SECONDS, revision: snapshot.revision };
      const listing = findRef(snapshot, slug);
      if (listing) return buildDocument(buildBadge(getItem(published, listing), site), facts);
      const tombstone = findTombstone(published, slug);
      if (tombstone) return { ...buildDocument(buildGoneBadge(tombstone, site), facts), status: 410 };
      throw new ServiceError('not_found', 'There is no such badge.', {
        hint: 'A badge has the slug of its listing: /badge/{slug}.svg.',
      });
    },
    { only: BADGE },
  );
}
