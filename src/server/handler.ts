import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isLivePath } from '../live/paths.ts';
import { buildPreflightHeaders } from '../live/preflight.ts';
import { NOTHING_HERE } from '../live/problem.ts';
import { findEntry, type GetSnapshot, type Snapshot } from '../snapshot/snapshot.ts';
import { buildCanonicalLink, buildMarkdownLink } from '../views/conventions/link-header.ts';
import { PATHS } from '../views/links.ts';
import { prefersJson, prefersMarkdown } from './accepting.ts';
import { type Admit, buildOverLimitError, isOverLimit, OVER_LIMIT } from './admission.ts';
import type { ContentStore } from './content.ts';
import type { CurrentRelease } from './current-release.ts';
import type { Readiness } from './health.ts';
import type { AnswerLive } from './live-answers.ts';
import type { OnDemand } from './on-demand.ts';
import { type FindReleasePage, findAsset, type Page } from './page-files.ts';
import { answerPicture, isPicturePath, type PictureServing } from './pictures.ts';
import { isShareable } from './security-headers.ts';
import { sendJson, sendPage, sendProblem } from './sending.ts';
import { MALFORMED_ADDRESS, parseTarget, type Target } from './target.ts';
import { MALFORMED } from './unreadable.ts';

const METHODS = 'GET, HEAD, OPTIONS';
/** Nothing hidden, nothing relative, and none of the page framework's own addresses, which start with an underscore. */
const PLAIN_PATH = /^\/$|^(\/\.?[a-z0-9][a-z0-9._-]*)+$/i;
/** Endings of what programs read: they are told of a missing document by another document, not by a page. */
const FOR_PROGRAMS = /\.(md|txt|json|xml)$/;
const NOTHING_TOLD: readonly string[] = [];
/** An id as the service itself writes it. */
const RECEIPT = /^\/receipts\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const LISTING = /^\/api\/([a-z0-9-]+)(\.md)?$/;

/** What requests are answered with. */
export interface Serving extends PictureServing {
  readonly getSnapshot: GetSnapshot;
  /** Whether there is a snapshot, and the live app. */
  readonly isLoaded: () => boolean;
  /** Loads these, if that has not begun, and gives what to wait for; undefined once they are there. */
  readonly getLoading: () => Promise<void> | undefined;
  /** Says whether a listing is delisted, for the time in which there is no snapshot yet. */
  readonly isDelisted: (slug: string) => boolean;
  /** Says whether there is a receipt with an id, current or not. */
  readonly isSettled: (receiptId: string) => boolean;
  readonly releasesDir: string;
  readonly current: CurrentRelease;
  readonly findReleasePage: FindReleasePage;
  readonly onDemand: OnDemand;
  readonly store: ContentStore;
  /** The live app; undefined where it is not loaded, or could not be. */
  readonly getLive: () => AnswerLive | undefined;
  /** Headers of every live answer, as flat names and values. */
  readonly liveHeaders: readonly string[];
  readonly getReadiness: () => Readiness;
  /** Counts what is made for a request: live answers but preflights, and pages rendered on demand; not what lies ready. */
  readonly admit: Admit;
  /** Headers of every answer, as flat names and values. */
  readonly headers: readonly string[];
  /** The service's address, as links name it. */
  readonly baseUrl: string;
  /** The `Link` header of every document and page. */
  readonly link: string;
  readonly logger: Logger;
}

/**
 * Answers one request: live routes, health, then pages, which are tombstones first (at once, whatever the release says),
 * else pages of the current release, else rendered on demand, else the page for what is not found. What the
 * request's Host says is never used here.
 */
export async function handleRequest(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = serving;
  if (hasSecondHost(request)) return sendProblem(request, response, MALFORMED, headers);
  const target = parseTarget(request.url ?? '');
  if (!target) {
    return sendProblem(request, response, MALFORMED_ADDRESS, headers);
  }
  const { path, query } = target;
  if (isLivePath(path)) {
    request.url = `${path}${query}`;
    const admission = request.method === 'OPTIONS' ? undefined : serving.admit(request);
    if (admission?.isWithin === false) {
      return sendProblem(request, response, OVER_LIMIT, [...serving.liveHeaders, ...admission.headers]);
    }
    const loading = serving.getLoading();
    if (loading) await loading;
    const live = serving.getLive();
    if (!live) throw new Error('The live routes could not be loaded.');
    return live(request, response, admission?.headers ?? NOTHING_TOLD);
  }
  if (request.method === 'OPTIONS') {
    const asked = request.headers['access-control-request-headers'];
    const answer = isShared(serving, path) ? buildPreflightHeaders(METHODS, asked) : { Allow: METHODS };
    response.writeHead(204, [...headers, ...Object.entries(answer).flat()]).end();
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const detail = `${request.method} is not answered here.`;
    const refusal = { status: 405, code: 'method_not_allowed', detail, hint: `Use ${METHODS}.` };
    return sendProblem(request, response, refusal, [...headers, 'Allow', METHODS]);
  }
  if (path === PATHS.health) return sendJson(request, response, { status: 200, value: { alive: true } }, headers);
  if (path === PATHS.ready) {
    const readiness = serving.getReadiness();
    return sendJson(request, response, { status: readiness.ready ? 200 : 503, value: readiness }, headers);
  }
  if (isPicturePath(path)) {
    const { isWithin, headers: told } = serving.admit(request);
    setHeaders(response, told);
    if (!isWithin) return sendProblem(request, response, OVER_LIMIT, headers);
    await serving.getLoading();
    return answerPicture(serving, request, response, path);
  }
  try {
    await answerPage({ ...serving, onDemand: limitOnDemand(serving, request, response) }, request, response, target);
  } catch (error) {
    if (!isOverLimit(error)) throw error;
    sendProblem(request, response, OVER_LIMIT, headers);
  }
}

/** Node keeps the first of two Host headers, and a proxy before it may have kept the other (RFC 9112, section 3.2). */
function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** However many pages are looked for to answer a request, it counts once. */
function limitOnDemand({ onDemand, admit }: Serving, request: IncomingMessage, response: ServerResponse): OnDemand {
  let isAdmitted: boolean | undefined;
  return {
    ...onDemand,
    find: async (path) => {
      if (isAdmitted === undefined) {
        const { isWithin, headers } = admit(request);
        setHeaders(response, headers);
        isAdmitted = isWithin;
      }
      if (!isAdmitted) throw buildOverLimitError();
      return onDemand.find(path);
    },
  };
}

function setHeaders(response: ServerResponse, headers: readonly string[]): void {
  for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}

/** Says whether pages of other sites may read what GET answers here: documents for agents, not pages for people. */
function isShared({ current }: Serving, path: string): boolean {
  const type = current.find()?.pages.get(path)?.type;
  if (type !== undefined) return isShareable(type);
  return path === PATHS.health || path === PATHS.ready || FOR_PROGRAMS.test(path);
}

async function answerPage(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
  { path, canonical, query }: Target,
): Promise<void> {
  const { headers, releasesDir, store } = serving;
  const asset = await findAsset(path, releasesDir, store);
  if (asset) return sendPage(request, response, asset, { headers, immutable: true });

  const negotiable = LISTING.exec(path)?.[2] === undefined && path.startsWith('/api/');
  const markdown = negotiable && prefersMarkdown(request.headers.accept) ? `${path}.md` : undefined;
  const page = await findPage(serving, markdown ?? path, query);
  if (page) {
    const located = markdown ? ['Content-Location', markdown] : [];
    const linked = [...headers, ...located, 'Link', getLink(serving, path)];
    return sendPage(request, response, page, { headers: linked, ...(negotiable && { vary: 'Accept' }) });
  }
  if (canonical !== path && (await findPage(serving, canonical))) {
    const location = `${encodeURI(canonical)}${query}`;
    response.writeHead(308, [...headers, 'Location', location, 'Content-Length', '0']).end();
    return;
  }
  const isForProgram = FOR_PROGRAMS.test(markdown ?? path) || prefersJson(request.headers.accept);
  const missing = isForProgram ? undefined : await findPage(serving, PATHS.notFound);
  const linked = [...headers, 'Link', serving.link];
  if (missing) return sendPage(request, response, missing, { headers: linked, vary: 'Accept' });
  if (serving.onDemand.isReady()) return sendProblem(request, response, NOTHING_HERE, [...linked, 'Vary', 'Accept']);
  const detail = 'The pages are not built yet.';
  const hint = 'Try again in a moment; the operator runs npm run rebuild.';
  const refusal = { status: 503, code: 'no_release', detail, hint };
  return sendProblem(request, response, refusal, [...headers, 'Retry-After', '5']);
}

/** Links a listing's page and its Markdown twin with each other, beside what every page links to. */
function getLink({ link, baseUrl }: Serving, path: string): string {
  const [, slug, twin] = LISTING.exec(path) ?? [];
  if (slug === undefined) return link;
  return `${link}, ${twin ? buildCanonicalLink(baseUrl, slug) : buildMarkdownLink(baseUrl, slug)}`;
}

async function findPage(serving: Serving, path: string, query = ''): Promise<Page | undefined> {
  const { onDemand } = serving;
  const slug = LISTING.exec(path)?.[1];
  if (slug === undefined || !isGone(serving, slug)) {
    const page = await serving.findReleasePage(path);
    if (page) return path === PATHS.notFound ? { ...page, status: 404 } : page;
  }
  await serving.getLoading();
  const snapshot = findSnapshot(serving);
  if (slug !== undefined && snapshot?.tombstones.has(slug)) return onDemand.find(path);
  if (!snapshot || !mayExist(serving, path, slug, snapshot)) return undefined;
  const rendered = await onDemand.find(path === PATHS.search ? `${path}${query}` : path);
  if (!rendered || rendered.status < 500) return rendered;
  throw new Error(`The page ${path} cannot be rendered (status ${rendered.status}).`);
}

/** Without a catalogue the release is served on: it is right as of its time. */
function isGone({ isLoaded, getSnapshot, isDelisted, logger }: Serving, slug: string): boolean {
  try {
    return isLoaded() ? getSnapshot().tombstones.has(slug) : isDelisted(slug);
  } catch (error) {
    logger.error({ err: error }, 'the catalogue cannot be read');
    return false;
  }
}

function findSnapshot({ getSnapshot, logger }: Serving): Snapshot | undefined {
  try {
    return getSnapshot();
  } catch (error) {
    logger.error({ err: error }, 'the catalogue cannot be read');
    return undefined;
  }
}

/**
 * Keeps made-up addresses from costing a rendering each: a listing is in the snapshot, a receipt is on record, and a release
 * of the same revision has every other page but that of search results.
 */
function mayExist(
  { current, isSettled }: Serving,
  path: string,
  slug: string | undefined,
  snapshot: Snapshot,
): boolean {
  if (slug !== undefined) return findEntry(snapshot, slug) !== undefined;
  if (path.startsWith(PATHS.receipt(''))) {
    const receiptId = RECEIPT.exec(path)?.[1];
    return receiptId !== undefined && isSettled(receiptId);
  }
  const release = current.find();
  if (!PLAIN_PATH.test(path) || isLivePath(path) || path.startsWith('/api/') || path.endsWith('.html')) return false;
  if (path === PATHS.search) return true;
  const isComplete = release?.header.revision === snapshot.revision;
  return path === PATHS.notFound || !isComplete || release.pages.get(path) !== undefined;
}
