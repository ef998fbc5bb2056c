import type { FeedFormat } from '../feed.ts';
import { buildFeedDeclarations } from './declarations.ts';
import { getFeedItemKey } from './item-key.ts';
import { pullFeed } from './pull.ts';

/** The Bazaar: `GET /discovery/resources` of a facilitator. */
export const BAZAAR: FeedFormat = {
  kind: 'bazaar',
  pull: pullFeed,
  getItemKey: getFeedItemKey,
  buildDeclarations: buildFeedDeclarations,
};
