import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { getHash } from '../published/hash.ts';
import type { StoredAnswer } from '../published/listings.ts';
import type { Reading } from '../published/reading.ts';
import { buildSummary, type Snapshot } from '../published/snapshot.ts';
import { type HeldReading, type Walk, walkAtOnce, walkInTurns } from '../published/walk.ts';
import type { Site } from '../views/site.ts';
import { joinPieces, type Piece } from './gzip-pieces.ts';

/** Time for which a browser or proxy may reuse a live document without asking, in seconds. */
const MAX_AGE_SECONDS = 5;

/** Compression of a body. Only pages and assets are sent as brotli. */
export type Compression = 'br' | 'gzip';

/** The content coding that a client asks for (RFC 9110, section 8.4.1); `identity` is uncompressed. */
export type Encoding = Compression | 'identity';

/** Facts about a page or document besides its content. */
interface Facts {
  readonly status?: ContentfulStatusCode;
  /** Media type with charset. */
  readonly type: string;
  readonly cacheControl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page or document. */
export interface Document extends Facts {
  readonly body: Uint8Array;
  /** Compression that the body already has. */
  readonly encoding?: Encoding | undefined;
  /** Changes whenever the content does. */
  readonly etag: string;
}

/** A document of all listings, as the parts of one gzip member. All its readers share these parts in memory. */
export interface JoinedDocument extends Facts {
  readonly parts: readonly Buffer[];
  /** Length of the uncompressed document in bytes. */
  readonly length: number;
  readonly etag: string;
}

/** Facts about a live document for its headers. */
interface LiveFacts {
  /** Catalogue revision of the document; absent if it shows nothing of the catalogue. */
  readonly revision?: number;
  /** Media type; JSON by default. */
  readonly type?: string;
  /** Time for which it may be reused without asking, in seconds. */
  readonly maxAge?: number;
}

/**
 * Builds a live document from its text. Its ETag is a hash of the text without `incidental`, such as the time, or the given
 * `etag`.
 */
export function buildDocument(
  text: string,
  { incidental, etag, ...facts }: LiveFacts & { readonly incidental?: string; readonly etag?: string } = {},
): Document {
  const hashed = () => getHash(incidental === undefined ? text : text.replace(incidental, ''));
  return { ...buildFacts(facts), body: Buffer.from(text), etag: etag ?? hashed() };
}

/** Builds a live document from a stored gzip body. */
export function buildStored({ body, etag, revision }: StoredAnswer): Document {
  return { ...buildFacts({ revision }), body, etag, encoding: 'gzip' };
}

/**
 * Makes a live document from a walk through the catalogue. During a long walk other requests are answered, for which the file is
 * opened once more; a short walk runs at once.
 */
export async function makeWalked(
  reading: Reading,
  { isLong, walk }: { readonly isLong: boolean; readonly walk: (held: HeldReading) => Walk<object> },
): Promise<Document> {
  const walkWith = function* (held: HeldReading): Walk<Document> {
    const { revision } = held.snapshot;
    return buildDocument(JSON.stringify(yield* walk(held)), { revision });
  };
  return isLong ? walkInTurns(reading, walkWith) : walkAtOnce(reading, walkWith);
}

/** Builds a live document of all listings from its pieces. */
export function buildJoined(
  pieces: readonly Piece[],
  { etag, ...facts }: LiveFacts & { readonly etag: string },
): JoinedDocument {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { ...buildFacts(facts), parts: joinPieces(pieces), length, etag };
}

/**
 * Returns the ETag of a document by everything that it is made from: the catalogue, path and query, the code, and the site's
 * settings.
 */
export function buildEtag(site: Site, snapshot: Snapshot, asked: string): string {
  const { identity, revision, revised_at, code_version } = snapshot;
  return getHash(JSON.stringify([identity, revision, revised_at, code_version, site, asked]));
}

/**
 * Builds a live document that begins with the catalogue summary; `rest` is the remaining JSON without its opening brace. `asked`,
 * path and query, is given if the document depends on nothing else but the catalogue; its ETag is then computed without hashing
 * the text.
 */
export function buildSummed(
  reading: Reading,
  snapshot: Snapshot,
  { rest, asked }: { readonly rest: string; readonly asked?: string },
): Document {
  const { revision } = snapshot;
  const summary = buildSummary(snapshot, reading.site, reading.now());
  const text = `{"catalogue":${JSON.stringify(summary)},"revision":${revision},${rest}`;
  const etag = asked && buildEtag(reading.site, snapshot, asked);
  return buildDocument(text, { incidental: summary.generated_at, revision, ...(etag && { etag }) });
}

function buildFacts({
  revision,
  type = 'application/json; charset=utf-8',
  maxAge = MAX_AGE_SECONDS,
}: LiveFacts): Facts {
  return {
    type,
    cacheControl: `public, max-age=${maxAge}, must-revalidate`,
    ...(revision !== undefined && { headers: { 'X-Catalogue-Revision': String(revision) } }),
  };
}
