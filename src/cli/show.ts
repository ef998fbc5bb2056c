import { z } from 'zod';
import { listDeclarations } from '../catalogue/read/declarations.ts';
import { listFindingsAbout, type RecordedFinding } from '../catalogue/read/findings.ts';
import { listReceipts } from '../catalogue/read/receipts.ts';
import { getRevision } from '../catalogue/transaction.ts';
import type { RecordedDeclaration } from '../evidence/authority.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Caution } from '../model/caution.ts';
import type { Listing } from '../model/listing.ts';
import type { Receipt } from '../model/payment.ts';
import { formatRoute, type Route } from '../model/route.ts';
import { isCeiling, type RecordedTerms } from '../model/terms.ts';
import { formatPaid, formatPrice, formatPriceRange, formatUsdc } from '../model/usdc.ts';
import { type Command, defineCommand } from './command.ts';
import { describeCautionOnRecord, renderFindings } from './finding-words.ts';
import { getListing, withReadableCatalogue } from './open-catalogue.ts';
import { formatTime, getStateCell } from './terminal/format.ts';
import type { Cell, Page } from './terminal/page.ts';

export const show: Command = defineCommand({
  summary: 'Show everything on record about one listing',
  details: 'With --json, the whole declaration of each source is included, and amounts are atomic USDC (6 decimals).',
  arguments: [['<slug>', 'the listing']],
  examples: [['show example-prices', 'texts, routes, terms, networks, sources, receipts and findings']],
  input: z.object({ slug: z.string() }),
  run: ({ slug }, context) =>
    withReadableCatalogue(context, async (catalogue): Promise<ShowResult> => {
      const listing = await getListing(catalogue, slug);
      return {
        revision: await getRevision(catalogue),
        listing,
        declarations: await listDeclarations(catalogue, listing.id),
        receipts: (await listReceipts(catalogue, [listing.id])).get(listing.id) ?? [],
        findings: await listFindingsAbout(catalogue, listing.base_url),
      };
    }),
  render: renderListing,
});

/** Everything on record about one listing. Amounts are atomic USDC. */
export interface ShowResult {
  revision: number;
  /** The listing as readers see it. */
  listing: Listing;
  /** The whole declaration of each source. */
  declarations: RecordedDeclaration[];
  receipts: Receipt[];
  findings: RecordedFinding[];
}

/** Writes everything on record about one listing, section by section; empty sections are left out. */
function renderListing(result: ShowResult, page: Page): void {
  const { listing, findings } = result;
  page.title(listing.title);
  if (listing.tagline) page.say(listing.tagline);
  page.blank();
  page.facts(listFacts(listing));
  for (const caution of listing.cautions) page.say(describeCautionCell(caution));
  if (listing.description) {
    page.blank();
    for (const line of listing.description.split('\n')) page.say(line, 2);
  }
  renderNetworks(listing, page);
  renderRoutes(listing, page);
  renderSources(result, page);
  renderReceipts(result, page);
  if (findings.length > 0) {
    openSection(page, 'Found in the sources');
    renderFindings(findings, page);
  }
}

function listFacts(listing: Listing): (readonly [string, Cell])[] {
  const { price_min: min, price_max: max, reliability: known } = listing;
  const score = known.score === null ? '' : ` ${known.score} of 100, ${known.samples} samples`;
  const rows: (readonly [string, Cell | null])[] = [
    ['slug', listing.slug],
    ['id', listing.id],
    ['state', getStateCell(listing.state)],
    ['because', listing.state_reason && `${listing.state_reason} (${listing.state_by})`],
    ['since', listing.state_at && formatTime(listing.state_at)],
    ['base address', listing.base_url],
    ['provider', listing.provider_name],
    ['category', `${listing.category}${listing.category_inferred ? ' (inferred)' : ''}`],
    ['price', min === null || max === null ? 'not known' : `${formatPriceRange(min, max)} USDC per request`],
    ['reliability', `${known.band}${score}`],
    ['MCP server', listing.mcp_endpoint],
    ['documentation', listing.docs_url],
    ['listed', formatTime(listing.listed_at)],
    ['last change', `${formatTime(listing.updated_at)}, revision ${listing.revision}`],
  ];
  return rows.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

function renderNetworks({ networks }: Listing, page: Page): void {
  openSection(page, 'Networks');
  page.table(
    [{ heading: 'network' }, { heading: 'advertised' }, { heading: 'last seen' }, { heading: 'last verified' }],
    networks.map((entry) => [
      `${entry.key} (${entry.id})`,
      entry.advertised ? 'yes' : entry.declared ? 'declared' : 'no',
      formatTime(entry.last_seen_at),
      formatTime(entry.last_verified_at),
    ]),
    2,
  );
}

function renderRoutes({ routes }: Listing, page: Page): void {
  openSection(page, routes.length === 0 ? 'Routes: none itemised' : `Routes: ${routes.length}`);
  for (const route of routes) {
    page.say({ text: formatRoute(route), style: 'cyan' }, 2);
    if (route.description) page.say(route.description, 4);
    page.say(describeVerification(route), 4);
    for (const caution of route.cautions) page.say(describeCautionCell(caution), 4);
    const current = getCurrentTerms(route.terms);
    for (const terms of current) page.say(describeTerms(terms), 4);
    for (const terms of route.terms.filter((past) => !current.includes(past))) {
      page.say({ text: `${terms.current ? 'declared' : 'was'}: ${describeTerms(terms)}`, style: 'dim' }, 4);
    }
  }
}

function describeVerification({ proof }: Route): Cell {
  if (!proof) return { text: 'unverified', style: 'dim' };
  const paid = `${formatPaid(proof)} USDC on ${proof.network}`;
  return {
    text: `settlement-verified ${formatTime(proof.verified_at)}, ${paid}, receipt ${proof.receipt_id}`,
    style: 'green',
  };
}

function describeCautionCell(caution: Caution): Cell {
  const text = `${caution.severity}: ${describeCautionOnRecord(caution)}`;
  return caution.severity === 'danger' ? { text, style: 'red' } : text;
}

function describeTerms({ amount, network, scheme, pay_to, evidence, source, last_seen_at }: RecordedTerms): string {
  const payee = pay_to === null ? '' : ` to ${pay_to}`;
  const other = scheme === 'exact' ? '' : ` (${scheme})`;
  const seen = last_seen_at === null ? 'a bare claim' : `seen ${formatTime(last_seen_at)}`;
  return `${formatPrice(amount, isCeiling({ scheme }))} USDC on ${network}${other}${payee}, ${evidence} by ${source}, ${seen}`;
}

function renderSources({ declarations }: ShowResult, page: Page): void {
  openSection(page, 'Sources');
  page.table(
    [{ heading: 'kind' }, { heading: 'seen' }, { heading: 'withdrawn' }, { heading: 'source', cut: true }],
    declarations.map(({ declaration: { source }, withdrawn_at }) => [
      source.kind,
      source.observed_at === null ? 'bare claim' : formatTime(source.observed_at),
      formatTime(withdrawn_at),
      source.name,
    ]),
    2,
  );
}

function renderReceipts({ receipts, listing }: ShowResult, page: Page): void {
  if (receipts.length === 0) return;
  const names = new Map(listing.routes.map((route) => [route.id, formatRoute(route)]));
  openSection(page, 'Receipts');
  page.table(
    [
      { heading: 'settled' },
      { heading: 'USDC', align: 'right' },
      { heading: 'network' },
      { heading: 'delivered' },
      { heading: 'conforming' },
      { heading: 'route', cut: true },
      { heading: 'id' },
    ],
    receipts.map((receipt) => [
      formatTime(receipt.settled_at),
      formatUsdc(receipt.amount),
      receipt.network,
      receipt.delivered ? 'yes' : 'no',
      receipt.conforming,
      names.get(receipt.route_id) ?? receipt.route_id,
      receipt.id,
    ]),
    2,
  );
}

function openSection(page: Page, title: string): void {
  page.blank();
  page.title(title);
}
