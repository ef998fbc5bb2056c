import { sql as catalogue } from './001-catalogue.ts';
import { sql as probing } from './002-probing.ts';
import { sql as payments } from './003-payments.ts';
import { sql as delistings } from './004-delistings.ts';
import { sql as listingDays } from './005-listing-days.ts';
import { sql as changeFeed } from './006-change-feed.ts';
import { sql as search } from './007-search.ts';
import { sql as replies } from './008-replies.ts';
import { sql as cautions } from './009-cautions.ts';
import { sql as primaryNetwork } from './010-primary-network.ts';
import { sql as payer } from './011-payer.ts';
import { sql as reliabilityMethod } from './012-reliability-method.ts';
import { sql as revisions } from './013-revisions.ts';
import { sql as routeWords } from './014-route-words.ts';
import { sql as latency } from './015-latency.ts';
import { sql as wordsPublished } from './016-words-published.ts';

/** All migrations in order. `user_version` of a database counts those it has run. Add new ones at the end; never change one. */
export const MIGRATIONS: readonly string[] = [
  catalogue,
  probing,
  payments,
  delistings,
  listingDays,
  changeFeed,
  search,
  replies,
  cautions,
  primaryNetwork,
  payer,
  reliabilityMethod,
  revisions,
  routeWords,
  latency,
  wordsPublished,
];
