import { NETWORKS } from '../model/network.ts';
import { cutText } from '../model/text.ts';
import { formatPrice } from '../model/usdc.ts';
import { type AgentItem, formatItemNetworks, getAtomic, listItemStandings } from './listing/item.ts';
import type { Site } from './site.ts';
import { formatCount } from './words/figures.ts';
import type { Standing } from './words/standing.ts';

/** Text in the picture of a link. Title, tagline and author are provider's text; all else is ours. */
export interface Picture {
  readonly service: string;
  readonly title: string;
  /** Host of the API, cut at its start if it is too long; null for a picture that is of no API and has only our own text. */
  readonly host: string | null;
  readonly tagline: string;
  /** Author of the tagline; null for our own text. */
  readonly author: string | null;
  /** Small facts along the bottom, each with its name. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** Its gravest standing; null if the picture is of no API. */
  readonly stamp: Standing | null;
}

const TITLE_LENGTH = 70;
const TAGLINE_LENGTH = 140;
const NAME_LENGTH = 40;
const HOST_LENGTH = 56;

/** Builds the text in the picture of a link to a listing. */
export function buildListingPicture(item: AgentItem, site: Site): Picture {
  const { price_min_usdc: min, price_max_usdc: max, reliability_band: band, reliability_score: score } = item;
  const least = formatPrice(getAtomic(min), item.price_min_is_ceiling);
  const most = formatPrice(getAtomic(max), item.price_max_is_ceiling);
  return {
    service: cutText(site.serviceTitle, NAME_LENGTH),
    title: cutText(item.title, TITLE_LENGTH),
    host: cutHost(item.host),
    tagline: cutText(item.tagline, TAGLINE_LENGTH),
    author: cutText(item.provider_name, NAME_LENGTH),
    facts: [
      { name: 'USDC per request', value: min === max ? least : `${least} to ${most}` },
      { name: 'Network', value: formatItemNetworks(item) || 'none advertised' },
      { name: 'Reliability', value: score === null ? band : `${score} of 100, ${band}` },
      { name: item.category, value: formatCount(item.endpoints_count, 'route') },
    ],
    stamp: listItemStandings(item)[0],
  };
}

/** Builds the text in the picture of a link to any other page. It has no counts, so it is never out of date. */
export function buildServicePicture(site: Site): Picture {
  return {
    service: cutText(site.serviceTitle, NAME_LENGTH),
    title: 'APIs your agent can pay for: no keys, no accounts',
    host: null,
    tagline: 'Found here, checked here, paid per request in USDC on the provider’s own HTTP 402.',
    author: null,
    facts: [
      { name: 'To list', value: 'free' },
      { name: 'Providers keep', value: '100%' },
      {
        name: 'Networks',
        value: Object.values(NETWORKS)
          .map(({ label }) => label)
          .join(', '),
      },
      { name: 'Protocol', value: 'x402' },
    ],
    stamp: null,
  };
}

/** Cuts a long host at its start, since its end names the owner. */
function cutHost(host: string): string {
  return host.length <= HOST_LENGTH ? host : `…${host.slice(1 - HOST_LENGTH)}`;
}
