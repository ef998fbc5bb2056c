import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { iterateRefs } from '../../../src/published/listings.ts';
import { findListingPage } from '../../../src/published/page-models.ts';
import { openSnapshotReadings } from '../../../src/site/snapshot-reading.ts';
import type { CallGuide } from '../../../src/views/call/guide.ts';
import { formatJsonLd } from '../../../src/views/json-ld.ts';
import { type FieldList, listRequired } from '../../../src/views/listing/fields.ts';
import type { ListedRoute, ListingPage } from '../../../src/views/listing/page.ts';
import { formatOfferEvidence, groupRoutes, type RouteDetail } from '../../../src/views/listing/routes.ts';
import { PAGE_LOADER } from '../../../src/views/pages/page-loader.ts';
import { splitProviderText } from '../../../src/views/pages/provider-text.ts';
import { SERVICE_MEANING, VERIFIED_MEANING, WORDS_MEANING } from '../../../src/views/site.ts';

/**
 * `node hugo-export.ts <folder>` writes the content files that Hugo reads: one for each live listing of the catalogue in the
 * settings, with all that its page shows as front matter.
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
const meanings = { meaning: SERVICE_MEANING, verified: VERIFIED_MEANING, words: WORDS_MEANING };
writeFileSync(join(folder, 'data/service.json'), JSON.stringify({ ...site, ...meanings, loader: PAGE_LOADER }));
for (const { slug } of iterateRefs(reading.published)) {
  const page = findListingPage(reading, slug);
  if (page?.kind === 'live') writeFileSync(join(pages, `${slug}.md`), `${JSON.stringify(buildFront(page))}\n`);
}
readings.close();

/**
 * Builds the front matter of a page: the parts of its model that the layouts use, and what our components compute from
 * it.
 */
function buildFront(page: ListingPage): object {
  const { kind, name, record_url, verified_routes, probes, latency, description, routes, json_ld, ...rest } = page;
  const { verification, price, ...status } = page.status;
  const [first, ...others] = routes;
  const groups = [{ name: null, routes: first ? [first] : [] }, ...groupRoutes(others)];
  const shown = {
    ...rest,
    words: splitProviderText(description),
    status,
    cautions: page.cautions.map(({ receipt_id, replies, ...caution }) => caution),
    call: page.call && buildCall(page.call),
    routes: routes.length,
    groups: groups.map(({ name, routes: members }) => ({ name, routes: members.map(buildRoute) })),
    price_history: page.price_history.summary,
    related: page.related.map(({ slug, provider_name, category, endpoints, reliability, latency, ...card }) => card),
    json_ld: formatJsonLd(json_ld),
  };
  return { title: name, page: shown };
}

function buildRoute({ probe, proofs, ...route }: ListedRoute): object {
  return {
    ...route,
    cautions: route.cautions.map(({ severity, text }) => ({ severity, text })),
    offers: route.offers.map((offer) => ({
      price: offer.price,
      networks: offer.networks,
      evidence: formatOfferEvidence(offer),
    })),
    detail: route.detail && buildDetail(route.detail),
  };
}

function buildDetail({ input, output, output_basis, by, call }: RouteDetail): object {
  return {
    input: input.map((list) => ({ place: list.place, ...buildFields(list) })),
    output: output && { ...buildFields(output), sample: output.sample, is_cut: output.is_cut },
    ...{ output_basis, by },
    call: buildCall(call),
  };
}

function buildFields({ rows, more }: FieldList): object {
  const fields = rows.map(({ name, type, is_required, meaning, example }) => {
    const facts = [type, ...listRequired(is_required)].filter(Boolean);
    return { name, facts, meaning, example };
  });
  return { rows: fields, more };
}

function buildCall({ route, known_good_on, ...call }: CallGuide): object {
  return call;
}
