import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { findListingPage } from '../../../src/published/page-models.ts';
import { openPinnedReadings } from '../../../src/release/pinned-reading.ts';
import { formatJsonLd } from '../../../src/views/json-ld.ts';
import type { ListingPage } from '../../../src/views/listing/page.ts';
import { formatOfferEvidence, formatOfferHistory, groupRoutes } from '../../../src/views/listing/routes.ts';
import { PAGE_LOADER } from '../../../src/views/pages/page-loader.ts';
import { splitProviderText } from '../../../src/views/pages/provider-text.ts';
import { SERVICE_MEANING, VERIFIED_MEANING } from '../../../src/views/site.ts';

/**
 * `node hugo-export.ts <folder>` writes the content files that Hugo reads: one for each live listing of the catalogue in the
 * settings, with all that its page shows as front matter.
 */
const [folder = ''] = process.argv.slice(2);
const config = readConfig();
const { baseUrl, serviceTitle, contactName, contactUrl } = config;
const site = { baseUrl, serviceTitle, contactName, contactUrl };
const readings = openPinnedReadings(config);
const reading = await readings.pin();
const pages = join(folder, 'content/api');
mkdirSync(pages, { recursive: true });
mkdirSync(join(folder, 'data'), { recursive: true });
const service = { ...site, meaning: SERVICE_MEANING, verified: VERIFIED_MEANING, loader: PAGE_LOADER };
writeFileSync(join(folder, 'data/service.json'), JSON.stringify(service));
for (const slug of reading.getSnapshot().columns.slugs) {
  const page = findListingPage(reading, slug);
  if (page?.kind === 'live') writeFileSync(join(pages, `${slug}.md`), `${JSON.stringify(buildFront(page))}\n`);
}
readings.close();

/** Builds the front matter of a page: its model, and what our components compute from it. */
function buildFront({ description, routes, json_ld, ...page }: ListingPage): object {
  const groups = groupRoutes(routes).map(({ name, routes: members }) => ({
    name,
    routes: members.map(({ offers, ...route }) => ({
      ...route,
      offers: offers.map((offer) => ({
        price: offer.price,
        networks: offer.networks,
        evidence: formatOfferEvidence(offer),
        history: formatOfferHistory(offer),
      })),
    })),
  }));
  const words = splitProviderText(description);
  return { title: page.title, page: { ...page, words, groups, routes: routes.length, json_ld: formatJsonLd(json_ld) } };
}
