import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { takesNothing } from '../../../src/evidence/input-parts.ts';
import { formatRoute } from '../../../src/model/route.ts';
import { cutText } from '../../../src/model/text.ts';
import { iterateRefs } from '../../../src/published/listings.ts';
import { findListingPage } from '../../../src/published/page-models.ts';
import { openSnapshotReadings } from '../../../src/site/snapshot-reading.ts';
import { buildBadgeLines } from '../../../src/views/badge.ts';
import { buildBareCall, buildRouteCall, type CallGuide } from '../../../src/views/call/guide.ts';
import { buildListingJsonLd, formatJsonLd } from '../../../src/views/json-ld.ts';
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
import type { PublicListing } from '../../../src/views/listing/record.ts';
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

/**
 * `node hugo-export.ts <folder>` writes the content files that Hugo reads: one for each live listing of the catalogue in the
 * settings, with all that its page shows as front matter. Synthetic listings have no probes, payments or cautions.
 */
const [folder = ''] = process.argv.slice(2);
const config = readConfig();
const { baseUrl, serviceTitle, contactName, contactUrl } = config;
const site = { baseUrl, serviceTitle, contactName, contactUrl };
const readings = openSnapshotReadings(config);
const reading = await readings.pin();
const pages = join(folder, 'content/api');
mkdirSync(pages, { recursive: true });
mkdirSync(join(folder, 'data'), { recursive: true });
writeFileSync(join(folder, 'data/service.json'), JSON.stringify({ ...site, loader: PAGE_LOADER }));
for (const { slug } of iterateRefs(reading.published)) {
  const page = findListingPage(reading, slug);
  if (page?.kind === 'live') writeFileSync(join(pages, `${slug}.md`), `${JSON.stringify(buildFront(page))}\n`);
}
readings.close();

/** Builds the front matter of a page: what our components take from the listing, and what they compute from it. */
function buildFront(page: ListingPage): object {
  const { listing, related } = page;
  const { slug, title, host, tagline, category, routes, updated_at } = listing;
  const best = getBestRoute(listing);
  const author = getAuthor(listing);
  const price = buildPriceHistory(page.priced, updated_at, { confirmed: isPriceSeen(routes) });
  const decisions = buildDecisionRows(page.decisions);
  const status = [
    ['Verification', getStanding(listing).text, describeVerification(listing)],
    ['Price', `${formatItemPrice(listing)} USDC per request`, formatPriceEvidence(listing)],
    ['Network', formatNetworks(listing), 'protocol x402'],
    ['Reliability', formatScore(listing), formatScoreBasis(listing)],
    ['Category', category, formatCount(listing.endpoints_count, 'endpoint')],
  ];
  return {
    title: formatName(listing),
    page: {
      ...{ slug, title, host, tagline, category, status },
      standing: getStanding(listing),
      summary: formatSummary(listing),
      cautions: listCautionViews(listing),
      best: best && { anchor: getRouteAnchor(best), name: formatRoute(best), offers: listRouteOffers(best.terms) },
      call: buildCall(best ? buildRouteCall(listing, best) : buildBareCall(listing)),
      words: splitProviderText(getDescription(listing)),
      ...{ author, provider_name: author === 'the provider' && listing.provider_name },
      routes: listShownRoutes(page).map((shown) => buildRoute(listing, shown, shown.route === best)),
      unverified: describeUnverified(listing),
      reliability: formatReliabilityEvidence(listing),
      price: price.summary,
      decisions,
      record: buildRecord(page),
      related: related.map(buildCard),
      json_ld: formatJsonLd(buildListingJsonLd(listing, site)),
    },
  };
}

function buildRoute(listing: PublicListing, { route, description, isDetailed }: ShownRoute, isBest: boolean): object {
  const brief = cutText(description, 120);
  return {
    anchor: getRouteAnchor(route),
    ...{ method: route.method, path: route.path, brief },
    description: brief === description ? '' : description,
    offers: listRouteOffers(route.terms).map((offer) => ({ ...offer, evidence: formatOfferEvidence(offer) })),
    standings: listRouteStandings(route, listing.updated_at),
    detail: isDetailed && {
      input: listInputFields(route).map((list) => ({ place: list.place, ...buildFields(list) })),
      takes_nothing: takesNothing(route.input_schema),
      output_basis: describeOutputBasis(listing, route, { output: findOutputFields(route, []), answer: null }),
      author: describeRouteAuthors(listing, route, ['description', 'input', 'example']),
      call: !isBest && buildCall(buildRouteCall(listing, route)),
      compare: buildComparePath([formatRouteName(listing.slug, route)]),
    },
  };
}

function buildFields({ rows, more }: FieldList): object {
  const fields = rows.map(({ name, type, is_required, meaning, example }) => {
    return { name, meaning, example, facts: [type, ...listRequired(is_required)].filter(Boolean).join(', ') };
  });
  return { rows: fields, more };
}

function buildCall({ route: _route, known_good_on: _day, ...call }: CallGuide): object {
  return call;
}

/** Lists what is on record of a listing, each with its lines. */
function buildRecord({ listing, same_product }: ListingPage): object {
  const { slug, base_url, network_entries, updated_at, sources } = listing;
  const words = describeSources(listing);
  return {
    ...{ id: listing.id, base_url, docs_url: listing.docs_url, mcp_endpoint: listing.mcp_endpoint, same_product },
    domain: findProviderDomain(listing),
    is_inferred: listing.category_inferred,
    networks: network_entries.map((entry) => ({ ...entry, state: describeNetwork(entry, updated_at) })),
    sources: sources.map(({ name, observed_at }, at) => ({
      ...{ name, ...words[at] },
      observed_on: observed_at && formatDay(observed_at),
    })),
    ...{
      listed_on: formatDay(listing.listed_at),
      changed_on: formatDay(updated_at),
      badge: buildBadgeLines(slug, site),
    },
  };
}

function buildCard(item: RowItem): object {
  const { slug, title, host, tagline } = item;
  const standings = listItemStandings(item);
  return { slug, title, host, tagline, standings, price: formatItemPrice(item), networks: formatItemNetworks(item) };
}
