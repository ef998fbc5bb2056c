import { v5 } from 'uuid';

/**
 * Gives the address under which all mentions of one listing are one: scheme and host in lower case, no trailing slash, no
 * fragment. A path and query that the provider gives stay.
 */
export function getCanonicalBaseUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

/**
 * Gives the host that a listing's address belongs to, with its port where that is not the usual one. Names in other scripts
 * come as they are resolved (`xn--…`), so that no letter can pass for another.
 */
export function getHost(baseUrl: string): string {
  return new URL(baseUrl).host;
}

/** Gives a listing's id: UUID version 5 of its base address, so that a catalogue made again keeps its ids. */
export function getListingId(baseUrl: string): string {
  return v5(getCanonicalBaseUrl(baseUrl), v5.URL);
}

/** Gives a route's id: UUID version 5 of method and path within its listing. */
export function getRouteId(listingId: string, method: string, path: string): string {
  return v5(`${method} ${path}`, listingId);
}
