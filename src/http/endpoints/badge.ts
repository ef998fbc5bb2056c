import { ServiceError } from '../../errors.ts';
import { findLive, findTombstone, getItem } from '../../published/listings.ts';
import { buildBadge, buildGoneBadge } from '../../views/badge.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument } from '../document.ts';
import { defineFile, SLUG_PARAM } from './define.ts';

const SVG = 'image/svg+xml';

/** Time for which a browser or proxy may reuse a badge without asking, in seconds. */
const BADGE_SECONDS = 300;

/** The badge of a listing. That of a removed listing says so, with status 410. */
export const badgeEndpoint = defineFile({
  id: 'getBadge',
  path: PATHS.badge('{slug}'),
  at: { path: '/badge/:file', only: /^\/badge\/(?<slug>[a-z0-9-]+)\.svg$/ },
  summary: 'What is verified of a listing, as a picture',
  description:
    'For the own site of its provider: host, verified routes and cautions. Of a removed listing it says so, with 410.',
  params: SLUG_PARAM,
  content: {
    description: 'The badge',
    type: SVG,
    example: () => '<svg xmlns="http://www.w3.org/2000/svg" role="img"></svg>',
  },
  failures: ['NotFound'],
  responses: {
    '410': {
      description: 'The listing was removed; the badge says so',
      content: { [SVG]: { schema: { type: 'string' } } },
    },
  },
  build: (_, { reading: { published, site }, snapshot, params: { slug = '' } }) => {
    const facts = { type: SVG, maxAge: BADGE_SECONDS, revision: snapshot.revision };
    const listing = findLive(published, slug);
    if (listing) return buildDocument(buildBadge(getItem(published, listing), site), facts);
    const tombstone = findTombstone(published, slug);
    if (tombstone) return { ...buildDocument(buildGoneBadge(tombstone, site), facts), status: 410 };
    throw new ServiceError('not_found', 'There is no such badge.', {
      hint: 'A badge has the slug of its listing: /badge/{slug}.svg.',
    });
  },
});
