import { crc32 } from 'node:zlib';
import { combineCrc32 } from '../snapshot/crc32.ts';
import { type Packed, readPacked } from '../snapshot/packed.ts';
import { buildGzipEnds } from './gzip.ts';
import { acceptsGzip, buildDocumentHeaders, isNotModified } from './joined.ts';

/** A document of which all but a short head is kept compressed. */
export interface PackedDocument {
  readonly head: string;
  readonly pieces: readonly Packed[];
  readonly type: string;
  /** Catalogue revision that the document is of. */
  readonly revision: number;
}

/**
 * Answers with a document made of packed pieces: 304 where the reader has it, gzip where accepted, by joining what is
 * compressed already; else unpacked piece by piece while it is sent, so that it is never in memory as a whole.
 */
export function buildPackedResponse(request: Request, { head, pieces, type, revision }: PackedDocument): Response {
  const bytes = Buffer.from(head);
  const rest = joinSums(pieces);
  const etag = `W/"${crc32(bytes).toString(36)}-${rest.crc.toString(36)}"`;
  const headers = buildDocumentHeaders({ etag, type, revision });
  if (isNotModified(request.headers.get('If-None-Match'), etag)) return new Response(null, { status: 304, headers });
  const gzip = acceptsGzip(request.headers.get('Accept-Encoding'));
  if (gzip) headers['Content-Encoding'] = 'gzip';
  const { first, last } = gzip ? buildGzipEnds(bytes, rest) : { first: bytes, last: Buffer.alloc(0) };
  const middle = gzip ? pieces.reduce((sum, { deflated }) => sum + deflated.length, 0) : rest.length;
  headers['Content-Length'] = String(first.length + middle + last.length);
  if (request.method === 'HEAD') return new Response(null, { headers });
  const bytesOf = listBytes(first, pieces, last, gzip);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = bytesOf.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(body, { headers });
}

function* listBytes(first: Buffer, pieces: readonly Packed[], last: Buffer, gzip: boolean): Generator<Buffer> {
  yield first;
  for (const piece of pieces) yield gzip ? piece.deflated : readPacked(piece);
  if (last.length > 0) yield last;
}

/** Gives check sum and length of pieces joined. */
function joinSums(pieces: readonly Packed[]): { crc: number; length: number } {
  let [crc, length] = [crc32(''), 0];
  for (const piece of pieces) {
    crc = combineCrc32(crc, piece.crc, piece.length);
    length += piece.length;
  }
  return { crc, length };
}
