import type { z } from 'zod';
import type { Config } from '../config.ts';
import { getErrorMessage } from '../errors.ts';
import { listNeeds } from '../evidence/abilities.ts';
import { mergeDeclarations } from '../evidence/declarations.ts';
import { getHostTitle } from '../evidence/titles.ts';
import { type FetchResponse, type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import { openTextResolver } from '../fetching/text-records.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { findCodeWords } from '../model/finding.ts';
import { isConclusive, isPayable, type ProbeSample } from '../model/probe.ts';
import type { httpMethod } from '../model/request.ts';
import { type DeclaredRoute, getRouteUrl, isToolPath } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';
import { formatUsdc } from '../model/usdc.ts';
import { listChallengeFindings } from '../sources/challenge-findings.ts';
import type { ApiDocument } from '../sources/document-declarations.ts';
import type { DocumentProblem } from '../sources/document-text.ts';
import { buildFinding } from '../sources/findings.ts';
import { isBareHost, type LookedUp, readHostDocuments, readWholeDocument } from '../sources/host-documents.ts';
import { readManifests } from '../sources/manifest.ts';
import { readProviderStatement } from '../sources/provider-file/read.ts';
import { getSourceName, isWebAddress } from '../sources/source-name.ts';
import { type CheckLine, type CheckResult, type ListedRoute, summariseRoutes } from '../views/provider-check.ts';
import { getUserAgent } from '../views/site.ts';
import { findAdvice, formatOutcome } from '../views/words/outcome.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { fillTemplates } from './probe-request.ts';
import { probeRoute } from './probe-route.ts';

type Method = z.infer<typeof httpMethod>;

/** Findings of a check so far, beside its lines. */
interface Found {
  declarations: Declaration[];
  /** Answers of routes, by method and address. */
  seen: Map<string, ProbeSample>;
  /** Routes of documents that are refused. */
  refused: number;
  /** The latest answer. */
  latest?: FetchResponse;
  /** Files of the host; undefined if none was looked for. */
  files?: HostFiles;
}

/** Files of a host: the provider's file, what is wrong in it, how many listings it asks for, and a document. */
export interface HostFiles {
  statement: 'statement' | 'absent' | 'unreadable';
  /** Why the provider's file is absent, as a stable code. */
  reason: string | null;
  problems: readonly CheckLine[];
  wanted: number;
  /** Address of a document that names routes, on the same host. Null without one. */
  document: string | null;
}

const TIMEOUT_MS = 10_000;

/** Most routes whose 402 is requested. */
const MAX_PROBED = 32;

/** What a check asks by, and what it may ask. */
export interface CheckContext {
  client: Pick<GuardedClient, 'fetch'>;
  resolver: Resolver;
  config: Pick<Config, 'allowPrivateNetworks'>;
  now: () => Date;
  signal: AbortSignal;
  /** True for strangers: without the provider's own file only methods that change nothing are sent, and POST to what is paid. */
  isStranger?: boolean;
  /** Called with each request, and with status, type and size of its answer, or why none came. */
  onExchange?: (exchange: { method: string; url: string; came: string }) => void;
}

type Resolver = Pick<ReturnType<typeof openTextResolver>, 'listTexts'>;

/**
 * Goes the whole way of an import and a probe for an address, without payment, and writes nothing. For a host alone it
 * reads the provider's statement and documents, and requests the 402 of some routes; for another address it requests
 * the 402, or reads the document that is there. A file is read as a document or a manifest.
 */
export async function checkAddress(
  config: Config,
  url: string,
  { method, now, signal }: { method: Method; now: () => Date; signal: AbortSignal },
): Promise<CheckResult> {
  const { baseUrl, allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent({ baseUrl }) });
  const resolver = openTextResolver();
  try {
    const { lines, summarise } = openCheck(url, method, { client, resolver, config, now, signal });
    const checks: CheckLine[] = [];
    for await (const more of lines) checks.push(...more);
    return { ...summarise(), checks };
  } finally {
    resolver.close();
    await client.close();
  }
}

/**
 * Opens the check of an address. `lines` gives what is found, as it is found, and throws what the signal is aborted with;
 * `summarise` says what would be listed, as far as that is known, and `getFiles` what a host says by files.
 */
export function openCheck(url: string, method: Method, context: CheckContext) {
  const found: Found = { declarations: [], seen: new Map(), refused: 0 };
  const lines = generateLines(url, method, context, found);
  return { lines, summarise: () => summarise(found), getFiles: () => found.files };
}

function summarise(found: Found): Omit<CheckResult, 'checks'> {
  const { seen, refused } = found;
  const listings = buildListings(found);
  const routes = listings.flatMap((listing) => listing.routes);
  const known = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  const others = [...seen].filter(([name, { status }]) => status === 402 && !known.has(name));
  const total = routes.length + refused + others.length;
  const listable = routes.filter((route) => route.listable).length;
  return {
    valid: total > 0 && listable === total,
    summary: summariseRoutes(listable, total),
    listings,
  };
}

type Lines = AsyncGenerator<CheckLine[]>;

async function* generateLines(url: string, method: Method, context: CheckContext, found: Found): Lines {
  const recording = { ...context, client: recordExchanges(context, found) };
  if (!isWebAddress(url)) yield* checkFile(url, recording, found);
  else if (isBareHost(url)) yield* checkHost(new URL(url).origin, recording, found);
  else yield* checkRoute(url, method, recording, found);
  const unpriced = buildListings(found).filter(({ routes }) => routes.every(({ price_usdc }) => !price_usdc));
  yield unpriced.map(({ base_url }) => explainFinding(buildFinding('noted', 'no_price', base_url)));
}

function recordExchanges({ client, onExchange }: CheckContext, found: Found): CheckContext['client'] {
  return {
    fetch: async (address, init) => {
      const [method, url] = [init?.method ?? 'GET', String(address)];
      try {
        const answer = await client.fetch(address, init);
        found.latest = answer;
        onExchange?.({ method, url, came: describeAnswer(answer) });
        return answer;
      } catch (error) {
        onExchange?.({ method, url, came: getErrorMessage(error) });
        throw error;
      }
    },
  };
}

/** Writes status, media type and size of an answer, and nothing that is in it. */
function describeAnswer({ status, headers, receivedBytes }: FetchResponse): string {
  const type = /^[\w.+-]{1,40}\/[\w.+-]{1,60}/.exec(headers.get('content-type') ?? '')?.[0];
  return [String(status), type, `${receivedBytes} bytes`].filter(Boolean).join(', ');
}

/** Builds a line about what was asked. `check` is its kind, in the words of Coinbase's `validate` where it has one. */
export function buildLine(
  check: 'reachable' | 'documents' | 'returns_402' | 'terms' | 'example' | 'limits',
  item: string,
  passed: boolean,
  actual: string,
  rest: Partial<CheckLine> = {},
): CheckLine {
  return { check, passed, severity: 'required', item, detail: rest.fix ?? actual, actual, ...rest };
}

async function* checkFile(path: string, { client, resolver, config, now, signal }: CheckContext, found: Found): Lines {
  const name = getSourceName(path);
  const options = getReadOptions(name, { config, now });
  const read = await readWholeDocument(path, options, { client, resolver, signal });
  // A manifest has routes with prices, and so can be taken for an x402 file, which is JSON.
  const isOther = 'code' in read ? read.code === 'not_api_document' : read.kind === 'x402_file';
  if (!isOther || !/\.ya?ml$/i.test(path)) {
    addDocument(found, read);
    yield describeDocument(name, read);
    return;
  }
  for await (const { declaration, findings } of readManifests([path], options)) {
    if (declaration) found.declarations.push(declaration);
    const words = declaration ? 'a manifest' : 'a manifest that is refused';
    yield [buildLine('documents', name, declaration !== undefined, words), ...findings.map(explainFinding)];
  }
}

/** Returns how a check reads documents: everything is listed where they say. */
function getReadOptions(name: string, { config, now }: Pick<CheckContext, 'config' | 'now'>) {
  const { allowPrivateNetworks } = config;
  return { name, base_url: null, allowPrivateNetworks, now: now().toISOString() };
}

/** Checks a host by its documents. Without a document its own address is asked. */
async function* checkHost(origin: string, context: CheckContext, found: Found): Lines {
  const { client, resolver, config, now, signal } = context;
  const options = getReadOptions(getSourceName(origin), { config, now });
  const { allowPrivateNetworks, now: at } = options;
  const { places, read: chosen } = await readHostDocuments(origin, options, { client, resolver, signal });
  const documents = places.flatMap(({ url, read }) => (read === 'absent' ? [] : { url, read }));
  const statement = await readProviderStatement(client, origin, { allowPrivateNetworks, now: at, signal });
  const isThere = documents.length > 0 || statement.kind !== 'absent';
  if (found.latest) yield [buildLine('reachable', origin, true, 'The host answers.')];
  yield [describePlaces(origin, places, statement, isThere)];
  // Several documents may say the same, so listings are those of the one that an import would take.
  addDocument(found, chosen);
  for (const { url, read } of documents) yield describeDocument(url, read);
  const isStated = statement.kind === 'statement';
  const stated = isStated ? statement.listings.flatMap((one) => ('declaration' in one && one.declaration) || []) : [];
  const problems = statement.kind === 'absent' ? [] : statement.findings.map(explainFinding);
  if (statement.kind !== 'absent') {
    const isTaken = statement.findings.every(({ severity }) => severity === 'noted');
    const words = `a statement of the provider with ${stated.length} listings`;
    yield [buildLine('documents', statement.url, isTaken, words), ...problems];
  }
  const named = documents.findLast(({ url, read }) => new URL(url).origin === origin && 'kind' in read);
  found.files = {
    statement: statement.kind,
    reason: statement.kind === 'absent' ? statement.reason : null,
    problems,
    wanted: stated.length,
    document: named?.url ?? null,
  };
  if (!isThere) {
    yield* checkRoute(`${origin}/`, 'GET', context, found);
    return;
  }
  const bases = new Set(found.declarations.map(({ base_url }) => base_url));
  found.declarations.push(...stated.filter(({ base_url }) => !bases.has(base_url)));
  const routes = found.declarations.flatMap(({ base_url, routes: own }) => own.map((route) => ({ base_url, route })));
  const asked = routes.filter(({ route }) => !context.isStranger || isStated || ASKED_FOR_STRANGERS.has(route.method));
  for (const { base_url, route } of asked.slice(0, MAX_PROBED)) yield await probe(base_url, route, context, found);
  if (routes.length === Math.min(asked.length, MAX_PROBED)) return;
  const words = `${Math.min(asked.length, MAX_PROBED)} of ${routes.length} routes were asked.`;
  const fix = `Routes beyond ${MAX_PROBED}, and methods that may change something, are left to a host with a file of its own.`;
  yield [buildLine('limits', origin, false, words, { severity: 'advisory', code: 'not_all_asked', fix })];
}

/** Adds what a document would list. */
function addDocument(found: Found, read: ApiDocument | DocumentProblem | undefined): void {
  if (!read || 'code' in read) return;
  found.declarations.push(...read.declarations);
  found.refused += read.items.refused;
}

/** Methods by which a route is asked for somebody who may not be its provider: POST, too, since its document says it is paid. */
const ASKED_FOR_STRANGERS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Says where documents were looked for, and what was there. */
function describePlaces(
  origin: string,
  found: readonly LookedUp[],
  statement: Awaited<ReturnType<typeof readProviderStatement>>,
  isThere: boolean,
): CheckLine {
  const name = (url: string) => (url.startsWith(`${origin}/`) ? url.slice(origin.length) : url);
  const was = statement.kind === 'absent' ? `nothing (${statement.reason.replaceAll('_', ' ')})` : statement.kind;
  const places = found.map(({ url, read }) => {
    return `${name(url)}: ${read === 'absent' ? 'nothing' : 'code' in read ? 'not taken' : 'taken'}`;
  });
  const fix = 'Put a list of your routes at /.well-known/x402, or name one address that answers 402.';
  return buildLine('documents', origin, isThere, [...places, `${name(statement.url)}: ${was}`].join('; '), {
    severity: 'advisory',
    expected: 'a document that names the routes and their prices',
    ...(!isThere && { code: 'no_document', place: '/.well-known/x402', fix }),
  });
}

async function* checkRoute(url: string, method: Method, context: CheckContext, found: Found): Lines {
  const { client, resolver, config, now, signal } = context;
  const { origin, pathname, search } = new URL(url);
  const path = `${pathname}${search}`.replace(/%7B/gi, '{').replace(/%7D/gi, '}');
  const live = await probe(origin, { ...BARE_ROUTE, method, path }, context, found);
  const status = [...found.seen.values()].at(-1)?.status ?? null;
  if (status === null || status < 200 || status > 299) {
    yield live;
    return;
  }
  const options = getReadOptions(getSourceName(url), { config, now });
  const read = await readWholeDocument(url, options, { client, resolver, signal });
  // An answer that is no document is a route that asks for nothing.
  const isDocument = !('code' in read && (read.code === 'not_api_document' || read.code === 'document_html'));
  if (isDocument) addDocument(found, read);
  yield isDocument ? describeDocument(url, read) : live;
}

/** A route of which nothing but its address is known. */
const BARE_ROUTE: Omit<DeclaredRoute, 'method' | 'path'> = {
  description: '',
  mime_type: null,
  example: null,
  input_schema: null,
  output_schema: null,
  terms: [],
};

function describeDocument(url: string, read: ApiDocument | DocumentProblem): CheckLine[] {
  const findings = 'code' in read ? [buildFinding('refused', read.code, url, read.message, read.place)] : read.findings;
  const explained = findings.map(explainFinding);
  if ('code' in read) return [buildLine('documents', url, false, read.message, { fix: read.hint }), ...explained];
  const { received, taken, duplicates, refused } = read.items;
  const what = read.kind === 'openapi' ? 'OpenAPI' : 'an x402 file';
  const words = `${what}: ${received} resources, ${taken} taken, ${duplicates} duplicates, ${refused} refused`;
  return [buildLine('documents', url, taken > 0, words), ...explained];
}

/** Requests the 402 of a route once, without payment, like a probe. */
async function probe(
  base_url: string,
  route: DeclaredRoute,
  { client, now, signal }: CheckContext,
  found: Found,
): Promise<CheckLine[]> {
  const url = getRouteUrl(base_url, route.path);
  const name = `${route.method} ${url}`;
  const context = { client, baseUrl: base_url, timeoutMs: TIMEOUT_MS, now, random: Math.random, signal };
  const sample = await probeRoute({ ...context, route });
  signal.throwIfAborted();
  const challenge = sample.status === 402 ? found.latest : undefined;
  const findings = challenge ? listChallengeFindings(readChallenge(challenge), name) : [];
  const ok = isPayable(sample.outcome);
  const version = sample.x402_version === null ? '' : ` (x402 version ${sample.x402_version})`;
  const advice = ok ? undefined : findAdvice(sample);
  const asked = buildLine('returns_402', name, ok, `${formatOutcome(sample.outcome, sample.cause)}${version}`, {
    ...(!ok && { expected: '402 with payment requirements of x402', code: sample.cause ?? sample.outcome }),
    ...(advice && { fix: advice.fix, place: advice.place }),
  });
  found.seen.set(name, sample);
  if (!ok) return [asked, ...findings.map(explainFinding)];
  const source: Declaration['source'] = { kind: 'x402_file', name: base_url, observed_at: null, speaker: base_url };
  const routes = [{ ...route, terms: sample.terms }];
  found.declarations.push({ ...BARE_DECLARATION, base_url, source, title: getHostTitle(base_url, []), routes });
  return [asked, ...findings.map(explainFinding), ...describePayable(name, route, sample, challenge)];
}

const BARE_DECLARATION: Omit<Declaration, 'base_url' | 'source' | 'title' | 'routes'> = {
  slug: null,
  service_name: null,
  tagline: '',
  description: '',
  provider_name: '',
  category: null,
  mcp_endpoint: null,
  docs_url: null,
  price: null,
  networks: [],
};

/** Says what a payable route asks, and whether a buyer knows how to call it. */
function describePayable(
  name: string,
  route: DeclaredRoute,
  { terms }: ProbeSample,
  answer: FetchResponse | undefined,
): CheckLine[] {
  const reading = answer && readChallenge(answer);
  const isDescribed = reading?.kind === 'challenge' && reading.challenge.input !== null;
  const { invented } = fillTemplates(route);
  const isBare = (route.method === 'GET' || route.method === 'HEAD') && invented.length === 0;
  const known = (route.example && 'an example in the document') || (isDescribed && 'the challenge describes the input');
  const found = known || (isBare && 'called as it is');
  const fix = 'Give an example request, so that agents know what to send.';
  const lack = { code: 'no_example', place: invented.length > 0 ? 'path' : 'input', fix };
  return [
    buildLine('terms', name, true, terms.map(describeOffer).join(' or ')),
    buildLine('example', name, Boolean(found), found || 'none', { severity: 'advisory', ...(!found && lack) }),
  ];
}

function describeOffer({ amount, network, pay_to, scheme }: Terms): string {
  return `${formatUsdc(amount)} USDC on ${network} to ${pay_to}, scheme ${scheme}`;
}

/** Returns what would be listed. Of several declarations of one address the first counts, and a live 402 before all. */
function buildListings({ declarations, seen }: Found): CheckResult['listings'] {
  const first = new Map(declarations.toReversed().map((one) => [one.base_url, one]));
  return [...first.values()].toReversed().map((declaration) => {
    const { base_url } = declaration;
    const { words, category } = mergeDeclarations([{ declaration, withdrawn_at: null }]);
    const routes = declaration.routes.map((route) => buildRoute(base_url, route, seen));
    return { base_url, title: words.title, tagline: words.tagline, category, routes };
  });
}

function buildRoute(baseUrl: string, { method, path, terms }: DeclaredRoute, seen: Found['seen']): ListedRoute {
  const url = getRouteUrl(baseUrl, path);
  const sample = seen.get(`${method} ${url}`);
  const asked = sample && isPayable(sample.outcome) ? sample.terms : terms;
  return {
    method,
    url,
    ...(asked.length > 0 && { price_usdc: formatUsdc(Math.min(...asked.map(({ amount }) => amount))) }),
    networks: [...new Set(asked.map(({ network }) => network))],
    needs: asked[0] ? listNeeds(asked[0], { isTool: isToolPath(path) }) : [],
    listable: sample && isConclusive(sample.outcome) ? isPayable(sample.outcome) : asked.length > 0,
  };
}

/** Returns the line of a finding, with the way to fix its cause. */
function explainFinding({ severity, message, ...finding }: Finding): CheckLine {
  const words = findCodeWords(finding.code);
  return {
    check: 'parse',
    passed: false,
    severity: severity === 'refused' ? 'required' : 'advisory',
    detail: message,
    ...finding,
    place: finding.place || 'body',
    ...(words && { fix: words.fix }),
    ...(words?.example && { example: words.example }),
  };
}
