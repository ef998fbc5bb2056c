import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { getHash } from '../published/hash.ts';
import type { StoredAnswer } from '../published/listings.ts';
import type { Reading } from '../published/reading.ts';
import { buildSummary, type Snapshot } from '../published/snapshot.ts';
import { getRendering } from '../published/state.ts';
import { type HeldReading, type Walk, walkAtOnce, walkInTurns } from '../published/walk.ts';
import { joinPieces, type Piece } from './gzip-pieces.ts';

/** Time for which a browser or proxy may reuse a document with live counts without asking, in seconds. */
const MAX_AGE_SECONDS = 5;

/** Compression of a body. Only pages and assets come as brotli. */
export type Compression = 'br' | 'gzip';

/** The same as clients ask for it (RFC 9110, section 8.4.1); `identity` is not compressed. */
export type Encoding = Compression | 'identity';

/** Facts about a page or document beside its content. */
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
  /** Changes whenever what the document says does. */
  readonly etag: string;
}

/** A document of all listings, as the parts of one gzip member, which all who read it share. */
export interface JoinedDocument extends Facts {
  readonly parts: readonly Buffer[];
  /** Bytes of it unpacked. */
  readonly length: number;
  readonly etag: string;
}

/** Facts about a live document that its headers state. */
interface LiveFacts {
  /** Catalogue revision that the document is of; left out of what shows nothing of the catalogue. */
  readonly revision?: number;
  /** JSON where left out. */
  readonly type?: string;
  /** Time for which it may be reused without asking, in seconds. */
  readonly maxAge?: number;
  /** The time that the document names as that of its making. */
  readonly generatedAt?: string;
}

/**
 * Builds a live document from its text. `incidental` is what of it may change while it says the same, such as the time;
 * with an `etag` that is known nothing is hashed.
 */
export function buildDocument(
  text: string,
  { incidental, etag, ...facts }: LiveFacts & { readonly incidental?: string; readonly etag?: string } = {},
): Document {
  const left = incidental ?? facts.generatedAt;
  const hashed = () => getHash(left === undefined ? text : text.replace(left, ''));
  return { ...buildFacts(facts), body: Buffer.from(text), etag: etag ?? hashed() };
}

/** Builds a live document that lies compressed by gzip. */
export function buildStored({ body, etag, revision }: StoredAnswer): Document {
  return { ...buildFacts({ revision }), body, etag, encoding: 'gzip' };
}

/**
 * Makes a live document of what a walk through the catalogue gives. A long walk answers others in between, for which the
 * file is opened once more; a short one is done at once.
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

/** Builds a live document of all listings from its pieces. `etag` is by what it is made of, but for the time. */
export function buildJoined(
  pieces: readonly Piece[],
  { etag, ...facts }: LiveFacts & { readonly etag: string },
): JoinedDocument {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { ...buildFacts(facts), parts: joinPieces(pieces), length, etag };
}

/** Builds the ETag of a document by what it is made of: the catalogue, path and query, the code, and the site's settings. */
export function buildEtag(
  { site, published }: Pick<Reading, 'site' | 'published'>,
  snapshot: Snapshot,
  asked: string,
): string {
  const { identity, revision, revised_at } = snapshot;
  const { code_version } = getRendering(published);
  return getHash(JSON.stringify([identity, revision, revised_at, code_version, site, asked]));
}

/**
 * Builds a live document that begins with the catalogue's summary; `rest` is the rest, JSON without its opening brace. What depends
 * on nothing but the catalogue and what was `asked`, path and query, has an ETag of these, of the code and of the site's settings.
 */
export function buildSummed(
  reading: Reading,
  snapshot: Snapshot,
  { rest, asked }: { readonly rest: string; readonly asked?: string },
): Document {
  const { revision } = snapshot;
  const summary = buildSummary(snapshot, reading.site, reading.now());
  const text = `{"catalogue":${JSON.stringify(summary)},"revision":${revision},${rest}`;
  const etag = asked && buildEtag(reading, snapshot, asked);
  return buildDocument(text, { generatedAt: summary.generated_at, revision, ...(etag && { etag }) });
}

function buildFacts({
  revision,
  type = 'application/json; charset=utf-8',
  maxAge = MAX_AGE_SECONDS,
}: Omit<LiveFacts, 'generatedAt'>): Facts {
  return {
    type,
    cacheControl: `public, max-age=${maxAge}, must-revalidate`,
    ...(revision !== undefined && { headers: { 'X-Catalogue-Revision': String(revision) } }),
  };
}
