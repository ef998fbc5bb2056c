import type { z } from 'zod';
import type { Config } from '../config.ts';
import { mergeDeclarations } from '../evidence/declarations.ts';
import { getHostTitle } from '../evidence/titles.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import { openTextResolver } from '../fetching/text-records.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { findCodeWords } from '../model/finding.ts';
import { isPayable } from '../model/probe.ts';
import type { httpMethod } from '../model/request.ts';
import { getRouteUrl } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';
import { formatUsdc } from '../model/usdc.ts';
import { listChallengeFindings } from '../sources/challenge-findings.ts';
import type { ApiDocument } from '../sources/document-declarations.ts';
import { buildFinding } from '../sources/finding-codes.ts';
import { chooseDocument, isBareHost, type LookedUp, lookUpDocuments, readWholeDocument } from '../sources/look-up.ts';
import { readManifests } from '../sources/manifest.ts';
import type { DocumentProblem } from '../sources/openapi/document-text.ts';
import { readProviderStatement } from '../sources/provider-file/read.ts';
import { getSourceName, isWebAddress } from '../sources/source-name.ts';
import { getUserAgent } from '../views/site.ts';
import { formatOutcome } from '../views/words/outcome.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { probeRoute } from './probe-route.ts';

type Method = z.infer<typeof httpMethod>;

/** The result of one check, and what to do if it is not ok. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  hint?: string;
}

/** A route as it would be listed. The price is in atomic USDC; null if none is known. */
interface WouldBeRoute {
  method: Method;
  url: string;
  price: number | null;
  networks: string[];
}

/** A listing as it would be made. */
interface WouldBeListing {
  base_url: string;
  title: string;
  routes: WouldBeRoute[];
}

/** A finding, and the way to fix its cause. */
interface ExplainedFinding extends Finding {
  fix: string | null;
  example: string | null;
}

/** The listings of an address, and why there are not more. */
export interface AddressCheck {
  ok: boolean;
  checks: Check[];
  listings: WouldBeListing[];
  findings: ExplainedFinding[];
}

const TIMEOUT_MS = 15_000;

/** Most routes of a document whose 402 is requested. */
const MAX_PROBED = 3;

interface Context {
  client: GuardedClient;
  config: Config;
  now: () => Date;
  signal: AbortSignal;
}

interface Parts {
  checks: Check[];
  listings: WouldBeListing[];
  findings: Finding[];
}

/**
 * Goes the whole way of an import and a probe for an address, without payment, and writes nothing. For a host alone it
 * reads the provider's statement and documents, and requests the 402 of some routes; for another address it requests
 * the 402, or reads the document that is there. A file is read as a document or a manifest.
 */
export async function checkAddress(
  config: Config,
  url: string,
  { method, now, signal }: { method: Method; now: () => Date; signal: AbortSignal },
): Promise<AddressCheck> {
  const { baseUrl, allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent({ baseUrl }) });
  const resolver = openTextResolver();
  const context = { client, config, now, signal };
  try {
    const parts = isWebAddress(url)
      ? await checkOutside(url, method, resolver, context)
      : await checkFile(url, resolver, context);
    const unpriced = parts.listings.filter(({ routes }) => routes.every(({ price }) => price === null));
    const held = unpriced.map(({ base_url }) => buildFinding('noted', 'no_price', base_url));
    return {
      ...parts,
      ok: parts.listings.length > unpriced.length,
      findings: [...held, ...parts.findings].map(explainFinding),
    };
  } finally {
    resolver.close();
    await client.close();
  }
}

type Resolver = ReturnType<typeof openTextResolver>;

async function checkOutside(url: string, method: Method, resolver: Resolver, context: Context): Promise<Parts> {
  const ofHost = isBareHost(url) ? await checkHost(new URL(url).origin, resolver, context) : undefined;
  return ofHost && ofHost.checks.length > 0 ? ofHost : await checkRoute(url, method, resolver, context);
}

async function checkFile(path: string, resolver: Resolver, { client, config, now, signal }: Context): Promise<Parts> {
  const { allowPrivateNetworks } = config;
  const name = getSourceName(path);
  const options = { name, base_url: null, allowPrivateNetworks, now: now().toISOString() };
  const read = await readWholeDocument(path, options, { client, resolver, signal });
  // A manifest has routes with prices, and so can be taken for an x402 file, which is JSON.
  const isOther = 'code' in read ? read.code === 'not_api_document' : read.kind === 'x402_file';
  if (!isOther || !/\.ya?ml$/i.test(path)) return describeDocument(name, read);
  const parts: Parts[] = [];
  for await (const { declaration, findings } of readManifests([path], options)) {
    const found = declaration ? 'a manifest' : 'a manifest that is refused';
    const check = { name, ok: declaration !== undefined, found };
    parts.push({ checks: [check], listings: declaration ? [describeListing(declaration)] : [], findings });
  }
  return joinParts(parts);
}

async function checkHost(origin: string, resolver: Resolver, context: Context): Promise<Parts> {
  const { client, config, now, signal } = context;
  const { allowPrivateNetworks } = config;
  const at = now().toISOString();
  const options = { name: getSourceName(origin), base_url: null, allowPrivateNetworks, now: at };
  const found = await lookUpDocuments(origin, options, { client, resolver, signal });
  const documents = found.filter(
    (one): one is LookedUp & { read: Exclude<LookedUp['read'], 'absent'> } => one.read !== 'absent',
  );
  const statement = await readProviderStatement(client, origin, { allowPrivateNetworks, now: at, signal });
  // Several documents may say the same, so listings are those of the one that an import would take.
  const parts: Parts[] = documents.map(({ url, read }) => ({ ...describeDocument(url, read), listings: [] }));
  const chosen = chooseDocument(found);
  if (chosen && !('code' in chosen)) {
    parts.push({ checks: [], listings: chosen.declarations.map(describeListing), findings: [] });
  }
  if (statement.kind !== 'absent') {
    const refused = statement.findings.filter(({ severity }) => severity === 'refused').length;
    const declared =
      statement.kind === 'statement'
        ? statement.listings.flatMap((entry) => ('declaration' in entry && entry.declaration) || [])
        : [];
    parts.push({
      checks: [
        {
          name: statement.url,
          ok: refused === 0,
          found: `a statement of the provider with ${declared.length} listings`,
        },
      ],
      listings: declared.map(describeListing),
      findings: statement.findings,
    });
  }
  const all = joinParts(parts);
  const probed = all.listings.flatMap(({ routes }) => routes).slice(0, MAX_PROBED);
  const live: Parts[] = [];
  for (const route of probed) live.push(await probeAddress(route.url, route.method, context));
  // Terms of a live 402 count before those of a document.
  const asked = new Map(
    live.flatMap(({ listings }) =>
      listings.flatMap(({ routes }) => routes.map((one) => [`${one.method} ${one.url}`, one])),
    ),
  );
  const listings = all.listings.map((listing) => ({
    ...listing,
    routes: listing.routes.map((route) => asked.get(`${route.method} ${route.url}`) ?? route),
  }));
  return { ...joinParts([all, ...live]), listings };
}

async function checkRoute(url: string, method: Method, resolver: Resolver, context: Context): Promise<Parts> {
  const live = await probeAddress(url, method, context);
  if (live.status !== null && (live.status < 200 || live.status > 299)) return live;
  if (live.status === null) return live;
  const { client, config, now, signal } = context;
  const { allowPrivateNetworks } = config;
  const options = { name: getSourceName(url), base_url: null, allowPrivateNetworks, now: now().toISOString() };
  const read = await readWholeDocument(url, options, { client, resolver, signal });
  // An answer that is no document is a route that asks for nothing.
  if ('code' in read && (read.code === 'not_api_document' || read.code === 'document_html')) return live;
  return describeDocument(url, read);
}

function joinParts(parts: readonly Parts[]): Parts {
  return {
    checks: parts.flatMap(({ checks }) => checks),
    listings: mergeListings(parts.flatMap(({ listings }) => listings)),
    findings: parts.flatMap(({ findings }) => findings),
  };
}

/** Keeps the first listing at each address; several documents of a host often describe the same. */
function mergeListings(listings: readonly WouldBeListing[]): WouldBeListing[] {
  return [...new Map(listings.toReversed().map((listing) => [listing.base_url, listing])).values()].toReversed();
}

function describeDocument(url: string, read: ApiDocument | DocumentProblem): Parts {
  if ('code' in read) {
    const check = { name: url, ok: false, found: read.message, hint: read.hint };
    return {
      checks: [check],
      listings: [],
      findings: [buildFinding('refused', read.code, url, read.message, read.place)],
    };
  }
  const { received, taken, duplicates, refused } = read.items;
  const what = read.kind === 'openapi' ? 'OpenAPI' : 'an x402 file';
  const found = `${what}: ${received} resources, ${taken} taken, ${duplicates} duplicates, ${refused} refused`;
  return {
    checks: [{ name: url, ok: taken > 0, found }],
    listings: read.declarations.map(describeListing),
    findings: read.findings,
  };
}

function describeListing(declaration: Declaration): WouldBeListing {
  const { base_url, routes } = declaration;
  return {
    base_url,
    title: mergeDeclarations([{ declaration, withdrawn_at: null }]).words.title,
    routes: routes.map(({ method, path, terms }) => describeRoute(method, getRouteUrl(base_url, path), terms)),
  };
}

function describeRoute(method: Method, url: string, terms: readonly Terms[]): WouldBeRoute {
  const amounts = terms.map(({ amount }) => amount);
  return {
    method,
    url,
    price: amounts.length > 0 ? Math.min(...amounts) : null,
    networks: [...new Set(terms.map(({ network }) => network))],
  };
}

/** Requests the 402 of an address once, without payment, like a probe. */
async function probeAddress(
  url: string,
  method: Method,
  { client, now, signal }: Context,
): Promise<Parts & { status: number | null }> {
  const { origin, pathname, search } = new URL(url);
  let answer: Awaited<ReturnType<GuardedClient['fetch']>> | undefined;
  const recorder: Pick<GuardedClient, 'fetch'> = {
    fetch: async (...request) => {
      answer = await client.fetch(...request);
      return answer;
    },
  };
  const path = `${pathname}${search}`.replace(/%7B/gi, '{').replace(/%7D/gi, '}');
  const sample = await probeRoute({
    ...{ client: recorder, baseUrl: origin, timeoutMs: TIMEOUT_MS, now, random: Math.random, signal },
    route: { method, path, example: null, input_schema: null, terms: [] },
  });
  const name = `${method} ${url}`;
  const ok = isPayable(sample.outcome);
  const words = formatOutcome(sample.outcome, sample.cause);
  const version = sample.x402_version === null ? '' : ` (x402 version ${sample.x402_version})`;
  const check: Check = ok
    ? { name, ok, found: `${words}${version}: ${sample.terms.map(describeOffer).join(' or ')}` }
    : { name, ok, found: `${words}${version}`, hint: 'The page /method says what each outcome means.' };
  const findings = answer?.status === 402 ? listChallengeFindings(readChallenge(answer), name) : [];
  const listing = {
    base_url: origin,
    title: getHostTitle(origin, []),
    routes: [describeRoute(method, url, sample.terms)],
  };
  return { checks: [check], listings: ok ? [listing] : [], findings, status: sample.status };
}

function describeOffer({ amount, network, pay_to, scheme }: Terms): string {
  return `${formatUsdc(amount)} USDC on ${network} to ${pay_to}, scheme ${scheme}`;
}

function explainFinding(finding: Finding): ExplainedFinding {
  const words = findCodeWords(finding.code);
  return { ...finding, fix: words?.fix ?? null, example: words?.example ?? null };
}
