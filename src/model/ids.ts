import { v5 } from 'uuid';
import { getCanonicalBaseUrl } from './listing.ts';

/** Returns a listing's id: UUID version 5 of its base URL, so that a catalogue that is made again keeps its ids. */
export function getListingId(baseUrl: string): string {
  return v5(getCanonicalBaseUrl(baseUrl), v5.URL);
}

/** Returns a route's id: UUID version 5 of method and path within its listing. */
export function getRouteId(listingId: string, method: string, path: string): string {
  return v5(`${method} ${path}`, listingId);
}
