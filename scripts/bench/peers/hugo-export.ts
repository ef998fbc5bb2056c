import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../../src/config.ts';
import { getDomain } from '../../../src/evidence/domains.ts';
import { takesNothing } from '../../../src/evidence/input-parts.ts';
import type { Category } from '../../../src/model/catalogue.ts';
import { formatRoute } from '../../../src/model/route.ts';
import { cutText } from '../../../src/model/text.ts';
import { iterateRefs } from '../../../src/published/listings.ts';
import { findListingPage } from '../../../src/published/page-data.ts';
import { openSnapshotReadings } from '../../../src/site/snapshot-reading.ts';
import { buildBadgeLines } from '../../../src/views/badge.ts';
import { PYTHON_SDK } from '../../../src/views/call/code.ts';
import { buildBareCall, buildRouteCall, type CallGuide } from '../../../src/views/call/guide.ts';
import { buildListingJsonLd, formatJsonLd } from '../../../src/views/json-ld.ts';
import { buildUrl, PATHS } from '../../../src/views/links.ts';
import { type FieldList, findOutputFields, listInputFields, listRequired } from '../../../src/views/listing/fields.ts';
import { buildDecisionRows, buildPriceHistory, isPriceSeen } from '../../../src/views/listing/history.ts';
import { formatItemNetworks, formatItemPrice, listItemStandings } from '../../../src/views/listing/item.ts';
import {
  getBestRoute,
  type ListingPage,
  listShownRoutes,
  type RowItem,
  type ShownRoute,
} from '../../../src/views/listing/page.ts';
import {
  describeOutputBasis,
  formatOfferEvidence,
  getRouteAnchor,
  listRouteOffers,
  listRouteStandings,
} from '../../../src/views/listing/routes.ts';
import { formatNetworks } from '../../../src/views/listing/tag.ts';
import {
  describeNetwork,
  describeUnverified,
  describeVerification,
  findProviderDomain,
  formatName,
  formatPriceEvidence,
  formatReliabilityEvidence,
  formatScore,
  formatScoreBasis,
  formatSummary,
  getDescription,
  getStanding,
} from '../../../src/views/listing/words.ts';
import { PAGE_LOADER } from '../../../src/views/pages/page-loader.ts';
import { splitProviderText } from '../../../src/views/pages/provider-text.ts';
import { buildComparePath, formatRouteName } from '../../../src/views/route-name.ts';
import { listCautionViews } from '../../../src/views/words/caution.ts';
import { formatCount, formatDay } from '../../../src/views/words/figures.ts';
import { describeRouteAuthors, describeSources, getAuthor } from '../../../src/views/words/source.ts';

/** Icons of the component `CategoryIcon`. */
const ICONS: Readonly<Record<Category, string>> = {
  Data: 'circle-stack',
  Finance: 'banknotes',
  Intelligence: 'sparkles',
  Tools: 'wrench-screwdriver',
  Verification: 'shield-check',
};

/** Longest description in a line of routes, as in the component `RouteLine`. */
const BRIEF_LENGTH = 120;

/**
 * `node hugo-export.ts <folder>` writes the content files that Hugo reads: one for each live listing of the catalogue in the
 * settings, with all that its page shows as front matter. Probes, payments and folded routes are left out, since the
 * catalogues of benchmarks have none.
 */
const [folder = ''] = process.argv.slice(2);
const readings = openSnapshotReadings(readConfig());
const reading = await readings.pin();
const { site } = reading;
const pages = join(folder, 'content/api');
mkdirSync(pages, { recursive: true });
mkdirSync(join(folder, 'data'), { recursive: true });
const icons = Object.fromEntries(Object.entries(ICONS).map(([category, name]) => [category, readIcon(name)]));
const service = { ...site, mcp_url: buildUrl(site.baseUrl, PATHS.mcp), python_sdk: PYTHON_SDK, loader: PAGE_LOADER };
writeFileSync(join(folder, 'data/service.json'), JSON.stringify({ ...service, icons }));
for (const { slug } of iterateRefs(reading.published)) {
  const page = await findListingPage(reading, slug);
  if (page?.kind === 'live') writeFileSync(join(pages, `${slug}.md`), `${JSON.stringify(buildFront(page))}\n`);
}
readings.close();

/** Reads an icon as our pages have it. */
function readIcon(name: string): string {
  const svg = readFileSync(fileURLToPath(import.meta.resolve(`heroicons/24/outline/${name}.svg`)), 'utf8');
  return svg
    .trim()
    .replace(/ xmlns="[^"]*"/, '')
    .replace('>', ' class="category-icon" width="20" height="20">');
}

/** Builds the front matter of a page: what our components take from the listing, and what they compute from it. */
function buildFront(page: ListingPage): object {
  const { listing } = page;
  const { slug, title, host, tagline, category, routes, updated_at } = listing;
  const best = getBestRoute(listing);
  const author = getAuthor(listing);
  const history = buildPriceHistory(page.priced, updated_at, { confirmed: isPriceSeen(routes) });
  const shown = {
    slug,
    title,
    host,
    tagline,
    category,
    mark: buildMark(host),
    category_href: PATHS.category(category),
    summary: formatSummary(listing),
    status: {
      standing: getStanding(listing),
      verification: describeVerification(listing),
      price: formatItemPrice(listing),
      price_evidence: formatPriceEvidence(listing),
      networks: formatNetworks(listing),
      score: formatScore(listing),
      score_basis: formatScoreBasis(listing),
      endpoints: formatCount(listing.endpoints_count, 'endpoint'),
    },
    cautions: listCautionViews(listing).map(({ receipt_id, replies, ...caution }) => caution),
    best: best && { name: formatRoute(best), anchor: getRouteAnchor(best), offers: listOffers(best) },
    call: buildCall(best ? buildRouteCall(listing, best) : buildBareCall(listing)),
    words: splitProviderText(getDescription(listing)),
    author,
    provider_name: author === 'the provider' ? listing.provider_name : null,
    routes: listShownRoutes(page).map((route) => buildRoute(page, route, route.route === best)),
    unverified: describeUnverified(listing),
    reliability: formatReliabilityEvidence(listing),
    price_history: history.summary,
    decisions: buildDecisionRows(page.decisions).map((row) => ({ ...row, day: formatDay(row.at) })),
    record: buildRecord(page),
    related: page.related.map(buildCard),
    json_ld: formatJsonLd(buildListingJsonLd(listing, site)),
  };
  return { title: formatName(listing), page: shown };
}

/** Gives the letter and the colour of a host, as the component `HostMark` does. */
function buildMark(host: string): object {
  const domain = getDomain(`https://${host}`);
  let sum = 0;
  for (const character of domain) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return { letter: /[a-z\d]/i.exec(domain)?.[0].toUpperCase() ?? '#', colour: sum % 12 };
}

function buildRoute({ listing }: ListingPage, { route, description, isDetailed }: ShownRoute, isBest: boolean): object {
  const anchor = getRouteAnchor(route);
  const brief = cutText(description, BRIEF_LENGTH);
  const shown = {
    anchor,
    href: PATHS.route(listing.slug, anchor),
    method: route.method,
    path: route.path,
    brief,
    offers: listOffers(route),
    standings: listRouteStandings(route, listing.updated_at),
  };
  if (!isDetailed) return shown;
  const output = findOutputFields(route, []);
  const detail = {
    description: brief === description ? '' : description,
    input: listInputFields(route).map((list) => ({ place: list.place, ...buildFields(list) })),
    takes_nothing: takesNothing(route.input_schema),
    output: output && { ...buildFields(output), sample: output.sample, is_cut: output.is_cut },
    output_basis: describeOutputBasis(listing, route, { output, answer: null }),
    call: isBest ? null : buildCall(buildRouteCall(listing, route)),
    author: describeRouteAuthors(listing, route, ['description', 'input', 'example']),
    compare_href: buildComparePath([formatRouteName(listing.slug, route)]),
  };
  return { ...shown, detail };
}

function listOffers({ terms }: ShownRoute['route']): object[] {
  return listRouteOffers(terms).map((offer) => {
    return { price: offer.price, networks: offer.networks, evidence: formatOfferEvidence(offer) };
  });
}

function buildFields({ rows, more }: FieldList): object {
  const fields = rows.map(({ name, type, is_required, meaning, example }) => {
    const facts = [type, ...listRequired(is_required)].filter(Boolean).join(', ');
    return { name, type, facts, meaning, example };
  });
  return { rows: fields, more };
}

function buildCall({ route, known_good_on, ...call }: CallGuide): object {
  return call;
}

function buildRecord({ listing, same_product }: ListingPage): object {
  const { id, slug, base_url, docs_url, mcp_endpoint, category_inferred, updated_at } = listing;
  const domain = findProviderDomain(listing);
  const words = describeSources(listing);
  return {
    id,
    base_url,
    docs_url,
    mcp_endpoint,
    category_inferred,
    provider: domain && { domain, href: PATHS.provider(domain) },
    networks: listing.network_entries.map((entry) => {
      const state = describeNetwork(entry, updated_at);
      return { id: entry.id, label: entry.label, href: PATHS.network(entry.key), state };
    }),
    sources: listing.sources.map(({ name, observed_at, observed_in }, at) => {
      return { name, ...words[at], observed_on: observed_at && formatDay(observed_at), observed_in };
    }),
    same_product: same_product.map((other) => ({ slug: other, href: PATHS.listing(other) })),
    listed_on: formatDay(listing.listed_at),
    changed_on: formatDay(updated_at),
    badge: buildBadgeLines(slug, site),
  };
}

function buildCard(item: RowItem): object {
  const { slug, title, host, tagline } = item;
  return {
    title,
    host,
    tagline,
    mark: buildMark(host),
    href: PATHS.listing(slug),
    standings: listItemStandings(item),
    price: formatItemPrice(item),
    networks: formatItemNetworks(item),
  };
}
