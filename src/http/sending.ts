import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { SMALLEST_COMPRESSED } from '../site/forms.ts';
import type { Compression, Document, Encoding, JoinedDocument } from './document.ts';
import type { Env } from './request.ts';

/** Length of a text up to which compressing or unpacking it takes less than a millisecond, in bytes. */
const SHORT_BYTES = 128 * 1024;

const GZIP = { level: 5 };

const compressGzip = promisify(gzip);

/** A response in its `encoding`. */
export interface Encoded extends Document {
  readonly encoding: Encoding;
}

/** Answers a request with a live document. It is never sent as brotli, which takes twice as long as gzip. */
export async function answerLive(
  c: Context<Env>,
  make: () => Document | Promise<Document | JoinedDocument>,
): Promise<Response> {
  const wanted = chooseEncoding(c, ['gzip']);
  const document = await make();
  return 'parts' in document ? sendJoined(c, document, wanted) : send(c, await compress(document, wanted), wanted);
}

/** Sends a document of all listings. */
function sendJoined(c: Context<Env>, document: JoinedDocument, wanted: Encoding): Response {
  const { parts, length, type, etag, cacheControl, headers } = document;
  const packed = Readable.from(parts);
  const isPacked = wanted === 'gzip';
  const body = isPacked ? packed : packed.pipe(createGunzip());
  const bytes = isPacked ? parts.reduce((sum, part) => sum + part.length, 0) : length;
  return c.body(Readable.toWeb(body) as ReadableStream, 200, {
    ...headers,
    Vary: 'Accept-Encoding',
    'Content-Type': type,
    'Cache-Control': cacheControl,
    ETag: `W/"${etag}"`,
    'Content-Length': String(bytes),
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
  });
}

/**
 * Returns the content coding that a client prefers among the supported ones; the first if it prefers several equally (RFC 9110,
 * section 12.5.3).
 */
export function chooseEncoding(c: Context<Env>, supports: readonly Compression[]): Encoding {
  return accepts(c, {
    header: 'Accept-Encoding',
    supports: [...supports],
    default: 'identity',
    match: (accepted) => {
      const getWeight = (name: string) =>
        (accepted.find(({ type }) => type.toLowerCase() === name) ?? accepted.find(({ type }) => type === '*'))?.q ?? 0;
      const [best] = supports.filter((name) => getWeight(name) > 0).toSorted((a, b) => getWeight(b) - getWeight(a));
      return best ?? 'identity';
    },
  }) as Encoding;
}

/** Compresses a document by gzip, unless it is short, already compressed, or of a type that does not get smaller. */
export async function compress(document: Document, encoding: Encoding): Promise<Encoded> {
  const isCompressible = /^text\/|json|javascript|xml/.test(document.type);
  const vary = [document.headers?.Vary, isCompressible && 'Accept-Encoding'].filter(Boolean).join(', ');
  const headers = { ...document.headers, ...(vary && { Vary: vary }) };
  const { body } = document;
  if (document.encoding !== undefined) return { ...document, headers, encoding: document.encoding };
  if (encoding === 'identity' || !isCompressible || body.length < SMALLEST_COMPRESSED)
    return { ...document, headers, encoding: 'identity' };
  // A short body is compressed in this thread: handing it to another one takes a third of a millisecond more.
  const packed = body.length <= SHORT_BYTES ? gzipSync(body, GZIP) : await compressGzip(body, GZIP);
  return { ...document, headers, body: packed, encoding: 'gzip' };
}

/** Sends a response. A client that does not accept its compression gets it unpacked. */
export function send(c: Context<Env>, { body, encoding, ...document }: Encoded, wanted: Encoding): Response {
  const { status = 200, type, etag, cacheControl } = document;
  const headers = { ...document.headers, 'Content-Type': type, 'Cache-Control': cacheControl, ETag: `W/"${etag}"` };
  if (encoding === 'identity' || wanted !== 'identity') {
    return c.body(body as Uint8Array<ArrayBuffer>, status, {
      ...headers,
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      'Content-Length': String(body.length),
    });
  }
  if (getUnpackedLength(body) <= SHORT_BYTES) {
    const plain = new Uint8Array(gunzipSync(body));
    return c.body(plain, status, { ...headers, 'Content-Length': String(plain.length) });
  }
  // Unpacked while it is sent, so that a large document is never whole in memory, however many clients read it.
  const plain = createGunzip();
  plain.end(body);
  return c.body(Readable.toWeb(plain) as ReadableStream, status, headers);
}

/** Returns the length of what a gzip member below 4 GB unpacks to, which its last four bytes say (RFC 1952, section 2.3.1). */
function getUnpackedLength({ buffer, byteOffset, length }: Uint8Array): number {
  return new DataView(buffer, byteOffset, length).getUint32(length - 4, true);
}
