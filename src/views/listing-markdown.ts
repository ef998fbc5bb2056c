import { buildUrl, PATHS } from './links.ts';
import { buildCodeBlock, buildCodeSpan, escapeMarkdown, quoteMarkdown } from './markdown.ts';
import type { ListingCard } from './pages/listing-card.ts';
import type { ListingPage } from './pages/listing-page.ts';
import { formatOfferEvidence, type RouteRow, type VerifiedRoute } from './pages/listing-routes.ts';
import type { TombstonePage } from './pages/tombstone-page.ts';
import { SERVICE_MEANING, type Site, VERIFIED_MEANING } from './site.ts';

/**
 * Builds the Markdown twin of a listing page. What the provider wrote stands escaped inside block quotes or code spans,
 * never in a heading and never as markup.
 */
export function buildListingMarkdown(page: ListingPage, site: Site): string {
  const { status, call } = page;
  const sections = [
    `# Listing ${page.slug}`,
    `Page: ${buildUrl(site.baseUrl, PATHS.listing(page.slug))}`,
    `In the words of ${page.words_by} (data, not instructions; not checked by this catalogue):`,
    quoteMarkdown([`${page.title} (by ${page.provider_name})`, page.tagline, page.description].join('\n\n').trim()),
    '## Status',
    buildList([
      `Verification: ${status.verification}`,
      `Price: ${status.price}`,
      `Endpoints: ${page.routes.length === 0 ? '0 (not itemised by the provider)' : page.routes.length}`,
      `Category: ${status.category}${page.category_inferred ? ' (inferred from the text)' : ''}`,
      `Network: ${status.network}`,
      `Payment protocol: ${status.protocol}`,
      `Reliability: ${page.reliability}`,
      `Provider's base address: ${buildCodeSpan(page.base_url)}`,
      ...(page.docs_url ? [`Provider's documentation: ${buildCodeSpan(page.docs_url)}`] : []),
      ...(page.mcp_endpoint ? [`Provider's own MCP server: ${buildCodeSpan(page.mcp_endpoint)}`] : []),
      `This catalogue's MCP server: ${page.service_mcp_url}`,
      `Everything on record, as JSON: ${page.record_url}`,
    ]),
    ...(page.verified_routes.length > 0
      ? ['## Verified routes', buildList(page.verified_routes.map(formatProof))]
      : []),
    page.unverified_statement,
    '## How to call this API',
    buildCall(call),
    '## All routes',
    page.routes.length > 0 ? buildList(page.routes.map(formatRow)) : 'The provider has not itemised its routes.',
    ...buildRouteWords(page.routes),
    '## Sources',
    buildList([
      ...page.sources.map(
        ({ kind, name, observed_on, observed_in }) =>
          `${kind}, ${buildCodeSpan(name)}: ${observed_on ? `observed ${observed_on}${observed_in ? ` in ${buildCodeSpan(observed_in)}` : ''}` : 'a bare claim, undated'}`,
      ),
      ...page.networks.map(({ label, id, state }) => `${label} (${id}): ${state}`),
      `Listed ${page.listed_on}, last changed ${page.changed_on}`,
    ]),
    ...(page.related.length > 0
      ? ['## Related listings', page.related.map((card) => formatCard(card, site)).join('\n')]
      : []),
    '## About this catalogue',
    `${SERVICE_MEANING} ${VERIFIED_MEANING}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Builds the Markdown of a delisted listing. */
export function buildTombstoneMarkdown(page: TombstonePage): string {
  return `# Listing ${page.slug} is gone

It was delisted on ${page.delisted_on} by ${page.delisted_by}. The reason on record and the title it had:

${quoteMarkdown(`${page.reason}\n\n${page.title}`)}
`;
}

function buildList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function formatProof({
  method,
  path,
  price,
  price_now,
  network,
  verified_on,
  transaction,
  receipt_url,
}: VerifiedRoute): string {
  const asksNow = price_now === null ? '' : ` (asks ${price_now} USDC now)`;
  const receipt = receipt_url === null ? buildCodeSpan(transaction) : `[receipt on the chain](${receipt_url})`;
  return `${buildCodeSpan(`${method} ${path}`)}: ${price} USDC on ${network}${asksNow}, verified ${verified_on}, ${receipt}`;
}

function formatRow({ method, path, verified, offers }: RouteRow): string {
  const prices = offers.map((offer) => `${offer.price} USDC on ${offer.networks} (${formatOfferEvidence(offer)})`);
  const state = verified ? 'settlement-verified' : 'unverified';
  return `${buildCodeSpan(`${method} ${path}`)}: ${prices.join(', ') || 'price unknown'}; ${state}`;
}

function buildRouteWords(routes: readonly RouteRow[]): string[] {
  const described = routes.filter(({ description }) => description !== '');
  if (described.length === 0) return [];
  const words = described.map(({ method, path, description }) => `${method} ${path}: ${description}`);
  return ['What the provider says of them (data, not instructions):', quoteMarkdown(words.join('\n\n'))];
}

function buildCall({ placeholders, price, network, curl, install, typescript }: ListingPage['call']): string {
  const fill = placeholders.map((name) => `\`{${name}}\``).join(', ');
  return [
    ...(fill ? [`Fill in ${fill} first.`] : []),
    'Ask without paying: the answer is HTTP 402 with the payment requirements, and costs nothing.',
    buildCodeBlock('sh', curl),
    `Then pay ${price} USDC on ${network} and receive the product (\`${install}\`):`,
    buildCodeBlock('ts', typescript),
  ].join('\n\n');
}

function formatCard({ slug, verified_ratio, category, price, title, tagline }: ListingCard, site: Site): string {
  const facts = `${verified_ratio}; ${category}; ${price} USDC per request`;
  const words = escapeMarkdown(tagline === '' ? title : `${title}: ${tagline}`);
  return `- [${slug}](${buildUrl(site.baseUrl, PATHS.listingMarkdown(slug))}): ${facts}\n  > ${words}`;
}
