import { getRouteUrl } from '../model/route.ts';
import { fillTemplates } from './path-template.ts';
import type { ProbedRoute } from './probed-route.ts';

/** One request without payment, as the route's example has it. */
export interface ProbeRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Path parameters whose values were made up. */
  invented: string[];
}

const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Never taken from an example: what pays, what is secret, and what says who is asking. */
const WITHHELD = /^(?:x-payment|payment-signature|authorization|proxy-authorization|cookie|user-agent)$/i;

/**
 * Builds the request of a probe: the declared method, templates filled, the example's query, headers and JSON body. A
 * query that stands in the path wins over the example's. A method that carries a body gets an empty object where there
 * is no example, so that a parser before the payment has something to parse. Returns undefined where base address and
 * path make no address.
 */
export function buildProbeRequest(baseUrl: string, route: ProbedRoute): ProbeRequest | undefined {
  const { path, invented } = fillTemplates(route.path, route);
  const url = URL.canParse(baseUrl) ? URL.parse(getRouteUrl(baseUrl, path)) : null;
  if (!url) return undefined;
  const { query = {}, headers = {}, body } = route.example ?? {};
  for (const [name, value] of Object.entries(query)) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  const given = Object.entries(headers).filter(([name]) => !WITHHELD.test(name));
  const sent: Record<string, string> = { accept: 'application/json, */*' };
  for (const [name, value] of given) sent[name.toLowerCase()] = value;
  const hasBody = body !== undefined ? route.method !== 'GET' && route.method !== 'HEAD' : !BODILESS.has(route.method);
  if (hasBody) sent['content-type'] ??= 'application/json';
  return {
    url,
    method: route.method,
    headers: sent,
    body: hasBody ? writeBody(body ?? {}, sent['content-type'] ?? '') : undefined,
    invented,
  };
}

function writeBody(body: unknown, contentType: string): string {
  return typeof body === 'string' && !/json/i.test(contentType) ? body : JSON.stringify(body);
}
