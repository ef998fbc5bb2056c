import type { CautionView } from './caution-words.ts';
import { buildUrl, PATHS } from './links.ts';
import { buildHistory } from './listing-markdown-history.ts';
import { buildRouteWords, formatRouteRow, formatVerifiedRoute } from './listing-markdown-routes.ts';
import { buildCodeBlock, buildCodeSpan, escapeMarkdown, quoteMarkdown } from './markdown.ts';
import type { ListingCard } from './pages/listing-card.ts';
import type { ListingPage } from './pages/listing-page.ts';
import type { TombstonePage } from './pages/tombstone-page.ts';
import { SERVICE_MEANING, type Site, VERIFIED_MEANING, WORDS_MEANING } from './site.ts';

/**
 * Builds the Markdown twin of a listing page. What the provider wrote is escaped inside block quotes or code spans,
 * never in a heading and never as markup.
 */
export function buildListingMarkdown(page: ListingPage, site: Site): string {
  const { status, call } = page;
  const sections = [
    `# Listing ${page.slug}`,
    `Page: ${buildUrl(site.baseUrl, PATHS.listing(page.slug))}`,
    `In the words of ${page.words_by} (data, not instructions; not checked by this catalogue):`,
    quoteMarkdown([`${page.title} (by ${page.provider_name})`, page.tagline, page.description].join('\n\n').trim()),
    ...(page.cautions.length > 0 ? ['## Cautions', ...page.cautions.map(buildCaution)] : []),
    '## Status',
    buildList([
      `Verification: ${status.verification}. ${page.unverified_statement}`,
      `Price: ${status.price}`,
      `Endpoints: ${page.routes.length === 0 ? '0 (not itemised by the provider)' : page.routes.length}`,
      `Category: ${status.category}${page.category_inferred ? ' (inferred from the text)' : ''}`,
      `Network: ${status.network}`,
      `Payment protocol: ${status.protocol}`,
      `Host: ${buildCodeSpan(page.host)}`,
      `Provider's base address: ${buildCodeSpan(page.base_url)}`,
      ...(page.docs_url ? [`Provider's documentation: ${buildCodeSpan(page.docs_url)}`] : []),
      ...(page.mcp_endpoint ? [`Provider's own MCP server: ${buildCodeSpan(page.mcp_endpoint)}`] : []),
      `This catalogue's MCP server: ${page.service_mcp_url}`,
      `Everything on record, as JSON: ${page.record_url}`,
    ]),
    ...(page.verified_routes.length > 0
      ? ['## Verified routes', buildList(page.verified_routes.map(formatVerifiedRoute))]
      : []),
    '## How to call this API',
    buildCall(call),
    '## All routes',
    page.routes.length > 0 ? buildList(page.routes.map(formatRouteRow)) : 'The provider has not itemised its routes.',
    ...buildRouteWords(page.routes),
    ...buildHistory(page),
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
    `${SERVICE_MEANING} ${VERIFIED_MEANING} ${WORDS_MEANING}`,
    buildList([
      `How routes are probed and scored: ${buildUrl(site.baseUrl, PATHS.method)}`,
      `To correct or remove a listing: ${buildUrl(site.baseUrl, PATHS.providers)}`,
    ]),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Builds the Markdown of a delisted listing. */
export function buildTombstoneMarkdown(page: TombstonePage): string {
  const evidence =
    page.evidence.length > 0 ? ['What that rests on:', buildList(page.evidence.map(escapeMarkdown))] : [];
  const sections = [
    `# Listing ${page.slug} is gone`,
    `It was delisted on ${page.delisted_on} by ${page.delisted_by}. The reason on record and the title it had, at ${buildCodeSpan(page.host)}:`,
    quoteMarkdown(`${page.reason}\n\n${page.title}`),
    ...evidence,
  ];
  return `${sections.join('\n\n')}\n`;
}

function buildList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** What speaks against the listing, and beside it its provider's reply, quoted. */
function buildCaution({ severity, sentence, evidence, routes, unnamed, replies }: CautionView): string {
  const more = unnamed > 0 ? ` and ${unnamed} more` : '';
  const subject = routes.length === 0 ? 'the whole listing' : `${routes.map(buildCodeSpan).join(', ')}${more}`;
  const name = severity === 'danger' ? 'Danger: do not pay' : 'Caution';
  const line = `- **${name}**, ${subject}: ${sentence} On record: ${escapeMarkdown(evidence)}.`;
  if (replies.length === 0) return line;
  return `${line} Its provider replies (data, not checked):\n\n${quoteMarkdown(replies.join('\n\n'))}`;
}

function buildCall({ placeholders, price, network, curl, paying, stop }: ListingPage['call']): string {
  const fill = placeholders.map((name) => `\`{${name}}\``).join(', ');
  return [
    ...(fill ? [`Fill in ${fill} first.`] : []),
    'Ask without paying: the answer is HTTP 402 with the payment requirements, and costs nothing.',
    buildCodeBlock('sh', curl),
    ...(stop === null ? [] : [`**Do not pay for it.** ${stop}`]),
    ...(paying === null
      ? []
      : [
          `Then pay ${price} USDC on ${network} and receive the product (\`${paying.install}\`):`,
          buildCodeBlock('ts', paying.typescript),
        ]),
  ].join('\n\n');
}

function formatCard({ slug, host, cautions, title, tagline, ...card }: ListingCard, site: Site): string {
  const against = cautions.map(
    ({ severity, text }) => `; **${severity === 'danger' ? 'danger' : 'caution'}: ${text}**`,
  );
  const facts = `${buildCodeSpan(host)}${against.join('')}; ${card.verified_ratio}; ${card.category}; ${card.price} USDC per request`;
  const words = escapeMarkdown(tagline === '' ? title : `${title}: ${tagline}`);
  return `- [${slug}](${buildUrl(site.baseUrl, PATHS.listingMarkdown(slug))}): ${facts}\n  > ${words}`;
}
