import { createHash } from 'node:crypto';
import { getCurrentTerms } from '../evidence/terms.ts';
import { getHostTitle, getLetters } from '../evidence/titles.ts';
import { getHost, type LiveListing } from '../model/listing.ts';
import { listCounted } from '../model/route.ts';
import { getTermsKey } from '../model/terms.ts';

/** Least number of letters in the descriptions of a product's routes together: "Ping" at `/` may be any product. */
const DESCRIBED_MIN = 20;

/**
 * Returns the number shared by the listings of one product at several addresses; null for a listing that says too little. Such
 * listings have the same name (or none but that of their host), the same texts, the same routes with the same descriptions and
 * prices, and the same payees. A copy made to deceive would name a payee of its own, so it does not count as the product that it
 * imitates.
 */
export function getProductNumber(listing: LiveListing): number | null {
  const { title, tagline, description, base_url } = listing;
  const routes = listCounted(listing.routes);
  const offers = routes.map(({ terms }) => getCurrentTerms(terms));
  const describedLength = routes.reduce((sum, route) => sum + route.description.length, 0);
  const isPayeeKnown = offers.flat().every(({ pay_to }) => pay_to !== null);
  if (offers.flat().length === 0 || !isPayeeKnown || describedLength < DESCRIBED_MIN) return null;
  const host = getHost(base_url);
  const identity = [
    isMadeFromHost(title, base_url) ? '' : title,
    ...[tagline, description].map((text) => text.replaceAll(host, '')),
    routes
      .map(({ method, path, description: text }, at) => [method, path, text, offers[at]?.map(getTermsKey).sort()])
      .sort(),
  ];
  return createHash('sha256').update(JSON.stringify(identity)).digest().readUIntBE(0, 6);
}

/** Returns true if a title is only the name of its host. */
function isMadeFromHost(title: string, baseUrl: string): boolean {
  return [getHost(baseUrl), getHostTitle(baseUrl, [])].some((name) => getLetters(name) === getLetters(title));
}
