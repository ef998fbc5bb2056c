import type { JsonObject } from '../model/json.ts';
import { buildToolCall, PATH_TEMPLATE, type RequestExample } from '../model/request.ts';
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

const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Headers of a client of an MCP server (MCP, "Streamable HTTP"). */
const TOOL_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

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
  const { path, invented } = fillTemplates(route.path, route);
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

export interface FilledPath {
  path: string;
  /** Names of parameters whose values were made up. An error about them is not the route's fault. */
  invented: string[];
}

/**
 * Fills the templates of a path: with the declared example of the parameter, with an example value of the same name,
 * else with a placeholder.
 */
export function fillTemplates(
  path: string,
  { input_schema, example }: { input_schema: JsonObject | null; example: RequestExample | null },
): FilledPath {
  const invented: string[] = [];
  const filled = path.replace(PATH_TEMPLATE, (_all, braced?: string, named?: string) => {
    const name = (braced ?? named ?? '').replace(/^[+*]|[*+?]$|:.*$/g, '');
    const value =
      findDeclaredExample(input_schema, name) ?? findText(example?.query, name) ?? findText(example?.body, name);
    if (value === undefined) invented.push(name);
    return encodeURIComponent(value ?? PLACEHOLDER);
  });
  return { path: filled, invented };
}

/** Finds an example value in the JSON Schema of a path parameter (`properties.pathParams.properties.<name>`). */
function findDeclaredExample(schema: JsonObject | null, name: string): string | undefined {
  const parameters = findMember(findMember(findMember(schema, 'properties'), 'pathParams'), 'properties');
  const declared = findMember(parameters, name);
  const examples = findMember(declared, 'examples');
  const choices = findMember(declared, 'enum');
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined);
  return [findMember(declared, 'example'), first(examples), findMember(declared, 'default'), first(choices)]
    .map(getText)
    .find((text) => text !== undefined);
}

function findText(source: unknown, name: string): string | undefined {
  return getText(findMember(source, name));
}

function findMember(source: unknown, name: string): unknown {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, name)) return undefined;
  return Object.getOwnPropertyDescriptor(source, name)?.value;
}

/** Returns a value as text for an address; undefined for other values. `.` and `..` would change the path. */
function getText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,200}$/u.test(value) ? value : undefined;
}

/** The facts about a route that a probe needs. */
export interface ProbedRoute extends Pick<DeclaredRoute, 'method' | 'path' | 'example' | 'input_schema'> {
  /** The current offers, without history; empty if none is known. */
  terms: DeclaredRoute['terms'];
  /** True if the seller uses a fresh payee for each challenge, so payees are not compared. */
  payeeRotates?: boolean | undefined;
}
