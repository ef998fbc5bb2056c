import { crc32 } from 'node:zlib';
import type { Part } from '../snapshot/part.ts';
import { buildGzip } from './gzip.ts';
import { PUBLIC_HEADERS } from './public-headers.ts';

/** How long an answer may be reused unasked, in seconds: counts are live, so only for a moment. */
const MAX_AGE_SECONDS = 5;

/** A document in two pieces: what is made per request, and what provably did not change since it was made. */
export interface JoinedDocument {
  /** Text up to where the body starts. */
  head: string;
  body: Part;
  /** What the head says, for the ETag; what differs per request, such as the time, is left out. */
  headKey: string;
  /** Catalogue revision that the document is of; left out of what shows nothing of the catalogue. */
  revision?: number;
  /** Media type; JSON where left out. */
  type?: string;
  /** How long it may be reused unasked, in seconds; left out of what shows counts. */
  maxAge?: number;
}

/** What the headers of a document say of it. */
export interface DocumentFacts {
  readonly etag: string;
  readonly type?: string | undefined;
  readonly maxAge?: number | undefined;
  readonly revision?: number | undefined;
}

/** Builds the headers of a live document: public, revalidated by its ETag, in either compression. */
export function buildDocumentHeaders({ etag, type, maxAge, revision }: DocumentFacts): Record<string, string> {
  return {
    ...PUBLIC_HEADERS,
    'Content-Type': type ?? 'application/json; charset=utf-8',
    'Cache-Control': `public, max-age=${maxAge ?? MAX_AGE_SECONDS}, must-revalidate`,
    ETag: etag,
    Vary: 'Accept-Encoding',
    ...(revision !== undefined && { 'X-Catalogue-Revision': String(revision) }),
  };
}

/**
 * Answers with a document: 304 where the reader has it (the weak ETag names what it says, not when it was made), gzip
 * where accepted. The body is not compressed again.
 */
export function buildJoinedResponse(request: Request, document: JoinedDocument): Response {
  const { head, body, headKey, ...facts } = document;
  const etag = `W/"${crc32(headKey).toString(36)}-${body.crc.toString(36)}"`;
  const headers = buildDocumentHeaders({ etag, ...facts });
  if (isNotModified(request.headers.get('If-None-Match'), etag)) return new Response(null, { status: 304, headers });
  const gzip = acceptsGzip(request.headers.get('Accept-Encoding'));
  const content = buildContent(head, body, gzip);
  if (gzip) headers['Content-Encoding'] = 'gzip';
  headers['Content-Length'] = String(content.reduce((sum, { length }) => sum + length, 0));
  if (request.method === 'HEAD') return new Response(null, { headers });
  const response = new Response(buildStream(content), { headers });
  if (content.length > 1) piecesOf.set(response, content);
  return response;
}

const piecesOf = new WeakMap<Response, readonly Buffer[]>();

/**
 * Finds the pieces of a large document that is not sent yet: a server that writes them itself spares them the way through a
 * stream, which for thousands of pieces takes as long as the network does.
 */
export function findPieces(response: Response): readonly Buffer[] | undefined {
  return piecesOf.get(response);
}

/** Says whether a client takes gzip: named with a weight above 0, or covered by `*` (RFC 9110, section 12.5.3). */
export function acceptsGzip(header: string | null): boolean {
  let any = false;
  for (const entry of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const weight = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1);
    if (name === 'gzip' || name === 'x-gzip') return weight > 0;
    if (name === '*') any = weight > 0;
  }
  return any;
}

/** Says whether `If-None-Match` names the ETag, by weak comparison (RFC 9110, section 13.1.2). */
export function isNotModified(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const strip = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => strip(tag) === strip(etag));
}

/** Small answers go out as one buffer; large ones piece by piece, so that nothing is copied. */
const COPY_LIMIT = 256 * 1024;

/** Gives the bytes of a document in the pieces they are sent in. */
function buildContent(head: string, body: Part, gzip: boolean): Buffer[] {
  const bytes = Buffer.from(head);
  const pieces = gzip ? buildGzip(bytes, body) : [bytes, ...body.pieces];
  const isSmall = pieces.reduce((sum, { length }) => sum + length, 0) <= COPY_LIMIT;
  return isSmall ? [Buffer.concat(pieces)] : pieces;
}

function buildStream(content: readonly Buffer[]): BodyInit {
  const [only] = content;
  if (only && content.length === 1) return new Uint8Array(only.buffer as ArrayBuffer, only.byteOffset, only.length);
  const rest = [...content];
  return new ReadableStream({
    pull(controller) {
      const next = rest.shift();
      if (next) controller.enqueue(next);
      if (rest.length === 0) controller.close();
    },
  });
}
