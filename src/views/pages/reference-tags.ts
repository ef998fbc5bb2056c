import type { ListingTag } from '../listing/tag.ts';

/** A field of a listing's tag, and what it means. */
export interface TagField {
  readonly name: string;
  readonly meaning: string;
}

/** Every field of a tag in words; the type makes sure that none is left out. */
const MEANINGS: Readonly<Record<keyof ListingTag, string>> = {
  name: 'Slug of the listing',
  description: 'Text of the provider, cut where it is long; then, in brackets, what this catalogue says of it',
  externalDocs: 'Base address of the provider, and what it is called',
  'x-payment-verified': 'Whether at least one route is settlement-verified',
  'x-verified-route-count': 'How many routes are',
  'x-reliability-score': 'How reliable it was found to be, 0 to 100; null while unscored',
  'x-reliability-band': 'How much is known: established, thin or unscored',
  'x-price-min-usdc': 'Lowest price of a request, in USDC',
  'x-price-max-usdc': 'Highest price of a request; the same where the price is flat',
  'x-network': 'Primary network',
  'x-endpoints-count': 'How many routes it has; 0 where the provider names none',
  'x-category': 'One of five categories',
  'x-provider-name': 'Name of the provider, in its own words',
  'x-base-url': 'Where the provider is called; never through this service',
  'x-mcp-endpoint': 'The provider’s own MCP server; null where it has none',
  'x-marketplace-url': 'Page of the listing here',
  'x-listing-id': 'Identifier that stays, whatever the listing is called',
  'x-network-id': 'Identifier of the primary network (CAIP-2)',
  'x-networks': 'Each network: whether payment is advertised there now, and whether it was proved',
};

/** Lists the fields of a tag in the order in which it has them. */
export function listTagFields(): TagField[] {
  return Object.entries(MEANINGS).map(([name, meaning]) => ({ name, meaning }));
}
