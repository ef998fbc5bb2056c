import { createHash } from 'node:crypto';
import { getCurrentTerms } from '../evidence/terms.ts';
import { getHost, type LiveListing } from '../model/listing.ts';

/** Letters that the descriptions of a product's routes have in all at least: "Ping" at `/` may be anything. */
const TOLD_MIN = 20;

/**
 * Gives the number that the listings of one product at several addresses have in common, such as those of preview
 * deployments; null where a listing says too little to tell. They have the same name (or none but their host), the same texts, the
 * same routes with the same descriptions, and the same payees: whoever copies all that has the money sent to the other.
 */
export function getProductNumber(listing: LiveListing): number | null {
  const { title, tagline, description, base_url, routes } = listing;
  const payees = routes.flatMap(({ terms }) => getCurrentTerms(terms).map(({ pay_to }) => pay_to));
  const told = routes.reduce((sum, route) => sum + route.description.length, 0);
  if (payees.length === 0 || payees.includes(null) || told < TOLD_MIN) return null;
  const host = getHost(base_url);
  const identity = [
    title === host ? '' : title,
    ...[tagline, description].map((text) => text.replaceAll(host, '')),
    [...new Set(payees)].sort(),
    routes.map(({ method, path, description: text }) => [method, path, text]).sort(),
  ];
  return createHash('sha256').update(JSON.stringify(identity)).digest().readUIntBE(0, 6);
}
