import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { CATEGORIES } from '../../model/catalogue.ts';
import { findLive, isDelisted } from '../../published/listings.ts';
import { listChangeNews } from '../../published/news.ts';
import { hasProvider } from '../../published/providers.ts';
import type { Reading } from '../../published/reading.ts';
import type { Snapshot } from '../../published/snapshot.ts';
import { ATOM_ENTRIES, buildChangesAtom, type FeedScope } from '../../views/changes.ts';
import { PATHS } from '../../views/links.ts';
import { findCategoryByPath } from '../../views/pages/lists.ts';
import { buildDocument, type Document } from '../document.ts';
import { defineFile, SLUG_PARAM } from './define.ts';

/** Time for which a feed may be reused, in seconds: feed readers look a few times an hour. */
const FEED_SECONDS = 300;

const ATOM = 'application/atom+xml; charset=utf-8';
const FEED = {
  description: 'The feed',
  type: ATOM,
  example: () => '<feed xmlns="http://www.w3.org/2005/Atom"></feed>',
};

/** The feed of the newest changes. */
export const changesFeedEndpoint = defineFile({
  id: 'getChangesFeed',
  path: PATHS.changesFeed,
  summary: 'The newest changes, for feed readers',
  description: `Atom (RFC 4287). Programs follow ${PATHS.agentChanges}.`,
  content: FEED,
  build: (_, { reading, snapshot }) => buildFeed(reading, snapshot),
});

/** The feed of one listing. A removed listing keeps its feed, whose newest entry says who removed it. */
export const listingFeedEndpoint = defineFile({
  id: 'getListingFeed',
  path: PATHS.listingFeed('{slug}'),
  at: { path: '/api/:file', only: /^\/api\/(?<slug>[a-z0-9-]+)\.atom$/ },
  summary: 'The newest changes of one listing, for feed readers',
  description: 'Atom. It stays when the listing is removed.',
  params: SLUG_PARAM,
  content: FEED,
  failures: ['NotFound'],
  build: (_, { reading, snapshot, params: { slug = '' } }) => {
    if (findLive(reading.published, slug) || isDelisted(reading.published, slug))
      return buildFeed(reading, snapshot, { slug });
    throw new ServiceError('not_found', 'There is no listing of this name.', {
      hint: `${PATHS.changesFeed} is the feed of all listings.`,
    });
  },
});

/** The feed of all listings of one provider, by the registered domain of their hosts. */
export const providerFeedEndpoint = defineFile({
  id: 'getProviderFeed',
  path: PATHS.providerFeed('{domain}'),
  at: { path: '/provider/:file', only: /^\/provider\/(?<domain>[a-z0-9][a-z0-9.-]*)\.atom$/ },
  summary: 'The newest changes of all listings of one provider, for feed readers',
  description: 'Atom. Removed listings are in it, too.',
  params: {
    domain: z
      .string()
      .meta({ description: 'Registered domain of the hosts, as pages name it', example: 'prices.example' }),
  },
  content: FEED,
  failures: ['NotFound'],
  build: (_, { reading, snapshot, params: { domain = '' } }) => {
    if (hasProvider(reading.published, domain)) return buildFeed(reading, snapshot, { domain });
    throw new ServiceError('not_found', 'Nothing is listed at this domain.', {
      hint: `${PATHS.changesFeed} is the feed of all listings.`,
    });
  },
});

const CATEGORY_NAMES = CATEGORIES.map((name) => name.toLowerCase());

/** The feed of one category. */
export const categoryFeedEndpoint = defineFile({
  id: 'getCategoryFeed',
  path: PATHS.categoryFeed('{category}'),
  at: { path: '/category/:file', only: /^\/category\/(?<name>[a-z0-9]+)\.atom$/ },
  summary: 'The newest changes in one category, for feed readers',
  description: 'Atom.',
  params: { category: z.enum(CATEGORY_NAMES).meta({ description: 'Category in lower case', example: 'finance' }) },
  content: FEED,
  failures: ['NotFound'],
  build: (_, { reading, snapshot, params: { name = '' } }) => {
    const category = findCategoryByPath(name);
    if (category) return buildFeed(reading, snapshot, { category });
    throw new ServiceError('not_found', 'There is no such category.', {
      hint: `The categories are ${CATEGORY_NAMES.join(', ')}.`,
    });
  },
});

/** Builds the feed of all listings, or of some. */
function buildFeed({ published, site }: Reading, snapshot: Snapshot, of?: FeedScope): Document {
  const news = listChangeNews(published, snapshot, ATOM_ENTRIES, of);
  return buildDocument(buildChangesAtom(news, snapshot, { site, of }), {
    type: ATOM,
    maxAge: FEED_SECONDS,
    revision: snapshot.revision,
  });
}
