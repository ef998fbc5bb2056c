import type { Dispatcher } from 'undici';
import type { ServiceError } from '../errors.ts';
import { buildFetchFailure, getFetchFailure } from './failure.ts';
import type { OutgoingRequest } from './request.ts';

/** One answer as received: content codings not yet undone. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** The body was longer, and this is its beginning. */
  isCut: boolean;
}

export interface ExchangeOptions {
  /** Most body bytes taken; one more ends the connection. */
  bodyBytes: number;
  /** Most pieces in which the body may come. */
  bodyPieces: number;
  /** Where the body is longer than that and not encoded, its beginning is the answer. */
  isCutAllowed: boolean;
  /** Most header fields taken, and most answers of status 1xx before the answer. */
  headerFields: number;
  /** Tells from the head whether the body is of no interest; the connection then ends there. */
  isBodySkipped: (status: number, headers: Headers) => boolean;
  /** Ends the exchange at once, even while the connection is being opened. Its reason is what the exchange throws. */
  signal: AbortSignal;
  /** Called when the connection is ready and the first byte is about to leave. */
  onSend: () => void;
}

/**
 * Makes one request and takes one answer, following nothing. Throws a ServiceError for all that ends it early; the
 * connection is then closed, never returned to the pool.
 */
export async function fetchOnce(
  dispatcher: Dispatcher,
  request: OutgoingRequest,
  options: ExchangeOptions,
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const { signal } = options;
  const host = request.url.hostname;
  const body = openBody(options.bodyBytes);
  let pieces = 0;
  let interim = 0;
  let head: Pick<RawAnswer, 'status' | 'headers'> | undefined;
  let controller: Dispatcher.DispatchController | undefined;

  function finish(answer: RawAnswer): void {
    signal.removeEventListener('abort', stop);
    resolve(answer);
  }
  function fail(error: unknown): void {
    body.drop();
    signal.removeEventListener('abort', stop);
    reject(getFetchFailure(error, host));
  }
  // Without a controller the request still waits for its connection: it is answered for here, and dropped when its
  // turn comes.
  function stop(): void {
    fail(signal.reason);
    controller?.abort(signal.reason);
  }
  const isCuttable = (headers: Headers) => options.isCutAllowed && !headers.has('content-encoding');
  const isLonger = (headers: Headers) =>
    request.method !== 'HEAD' && Number(headers.get('content-length')) > options.bodyBytes;
  signal.throwIfAborted();
  signal.addEventListener('abort', stop, { once: true });

  dispatcher.dispatch(
    {
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      // One deadline, the signal's, covers all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) started.abort(signal.reason);
        else options.onSend();
      },
      onResponseStart(started, status, rawHeaders) {
        const headers = findHeaders(rawHeaders, options.headerFields);
        if (status < 200) interim += 1;
        if (!headers || interim > options.headerFields) {
          started.abort(buildFetchFailure('too_large', `The host ${host} sent more header fields than are accepted.`));
          return;
        }
        if (status < 200) return;
        head = { status, headers };
        if (options.isBodySkipped(status, headers)) {
          finish({ ...head, body: new Uint8Array(), isCut: false });
          started.abort(new Error('the rest of the answer is not needed'));
        } else if (!isCuttable(headers) && isLonger(headers)) {
          started.abort(buildTooLarge(host, options.bodyBytes));
        }
      },
      onResponseData(started, chunk) {
        pieces += 1;
        if (pieces > options.bodyPieces) {
          const message = `The host ${host} sent a body in more than ${options.bodyPieces} pieces.`;
          started.abort(buildFetchFailure('too_large', message));
          return;
        }
        if (body.add(chunk)) return;
        if (head && isCuttable(head.headers)) finish({ ...head, body: body.take(), isCut: true });
        started.abort(buildTooLarge(host, options.bodyBytes));
      },
      onResponseEnd() {
        if (head) finish({ ...head, body: body.take(), isCut: false });
        else fail(new Error('no answer came'));
      },
      onResponseError(_started, error) {
        fail(error);
      },
    },
  );
  return promise;
}

/** Undefined where there are more than `most` fields. */
function findHeaders(raw: Record<string, string | string[] | undefined>, most: number): Headers | undefined {
  const fields = Object.entries(raw).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, one] as [string, string]),
  );
  return fields.length > most ? undefined : new Headers(fields);
}

/** A body while it comes in. */
interface OpenBody {
  /** Copies the chunk behind what came before; false where that would be more than the limit, which then is full. */
  add(chunk: Uint8Array): boolean;
  /** Gives all that came, and keeps nothing. */
  take(): Uint8Array;
  /** Gives the memory back at once, rather than when it is next collected; what comes after is not kept. */
  drop(): void;
}

/** Bytes that a body is given room for at first. */
const FIRST_ROOM = 16 * 1024;

/**
 * Opens one buffer that grows in place up to `limit` bytes. Chunks are copied, never kept: each would be an object of its own, and
 * a host that sends single bytes would fill our memory with them.
 */
function openBody(limit: number): OpenBody {
  const buffer = new ArrayBuffer(0, { maxByteLength: limit });
  const bytes = new Uint8Array(buffer);
  let length = 0;
  return {
    add(chunk) {
      if (buffer.detached) return true;
      const taken = chunk.byteLength > limit - length ? chunk.subarray(0, limit - length) : chunk;
      const needed = length + taken.byteLength;
      if (needed > bytes.byteLength) {
        buffer.resize(Math.min(limit, Math.max(needed, FIRST_ROOM, bytes.byteLength * 2)));
      }
      bytes.set(taken, length);
      length = needed;
      return taken.byteLength === chunk.byteLength;
    },
    take: () => new Uint8Array(buffer.transferToFixedLength(length)),
    drop() {
      if (!buffer.detached) buffer.transferToFixedLength(0);
    },
  };
}

function buildTooLarge(host: string, bytes: number): ServiceError {
  return buildFetchFailure('too_large', `The host ${host} sent a body of more than ${bytes} bytes.`);
}
