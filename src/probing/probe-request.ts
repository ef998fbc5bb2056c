import { fillPath } from '../evidence/call-input.ts';
import { TOOL_HEADERS } from '../fetching/tool-call.ts';
import { buildToolCall, getTemplateName, PATH_TEMPLATE } from '../model/request.ts';
import { type DeclaredRoute, getRouteUrl, getToolName, isToolPath } from '../model/route.ts';

/** A request without payment, built from the route's example. */
export interface ProbeRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Path parameters whose values were made up. */
  invented: string[];
}

/** Most pieces of an answer to a probe. The network itself makes about 700 of the longest allowed answer. */
export const PROBED_BODY_PIECES = 4_000;

const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Headers that are never copied from an example: payments, secrets, and the user agent. */
const WITHHELD_HEADERS = /^(?:x-payment|payment-signature|authorization|proxy-authorization|cookie|user-agent)$/i;

/**
 * Builds the request of a probe: the declared method, the path with its templates filled, and the query, headers and
 * body of the example. A query in the path wins over that of the example. If a method needs a body and there is no
 * example, the body is an empty object, so that a parser that runs before the payment check can parse it. The request
 * for the tool of an MCP server is the message that calls it; `fetchToolCall` opens the session before. Returns
 * undefined if base address and path are not a valid address.
 */
export function buildProbeRequest(baseUrl: string, route: ProbedRoute): ProbeRequest | undefined {
  const { path, invented } = fillTemplates(route);
  const url = URL.canParse(baseUrl) ? URL.parse(getRouteUrl(baseUrl, path)) : null;
  if (!url) return undefined;
  const { query = {}, headers = {}, body } = route.example ?? {};
  if (isToolPath(route.path)) {
    const message = buildToolCall(getToolName(route.path), body);
    return { url, method: 'POST', headers: { ...TOOL_HEADERS }, body: message, invented };
  }
  for (const [name, value] of Object.entries(query)) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  const given = Object.entries(headers).filter(([name]) => !WITHHELD_HEADERS.test(name));
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

/** The value of an unknown parameter. It is valid as a number and as text, and most counted things have a first one. */
const PLACEHOLDER = '1';

interface FilledPath {
  path: string;
  /** Names of parameters whose values were made up. An error about them is not the route's fault. */
  invented: string[];
}

/** Fills the templates of a path with the values that a call has, else with a placeholder. */
export function fillTemplates(route: Pick<ProbedRoute, 'method' | 'path' | 'example' | 'input_schema'>): FilledPath {
  const known = fillPath(route);
  const invented: string[] = [];
  const path = route.path.replace(PATH_TEMPLATE, (_all, braced?: string, named?: string) => {
    const template = braced ?? named ?? '';
    if (!Object.hasOwn(known, template)) invented.push(getTemplateName(template));
    return encodeURIComponent(known[template] ?? PLACEHOLDER);
  });
  return { path, invented };
}

/** The facts about a route that a probe needs. */
export interface ProbedRoute extends Pick<DeclaredRoute, 'method' | 'path' | 'example' | 'input_schema'> {
  /** The current offers, without history; empty if none is known. */
  terms: DeclaredRoute['terms'];
  /** True if the seller uses a fresh payee for each challenge, so payees are not compared. */
  payeeRotates?: boolean | undefined;
}
