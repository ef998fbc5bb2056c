import type { Dispatcher } from 'undici';
import { type OpenBody, openBody } from './body.ts';
import { startDeadline } from './deadline.ts';
import { buildFetchFailure, getFetchFailure } from './failure.ts';
import type { FetchLimits } from './limits.ts';
import type { OutgoingRequest } from './request.ts';

/** One answer as received: content codings not yet undone. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** Bytes of the body that came, dropped ones included. */
  receivedBytes: number;
  /** The body was longer, and this is its beginning. */
  isCut: boolean;
}

export interface ExchangeOptions {
  limits: FetchLimits;
  /** Where the body is longer than `bodyBytes` and not encoded, its beginning is the answer. */
  isCutAllowed: boolean;
  /** Bytes of the body to be kept, by the status of the answer. */
  getWantedBytes: (status: number) => number;
  /** Tells from the head whether the body is of no interest; the connection then ends there. */
  isBodySkipped: (status: number, headers: Headers) => boolean;
  /** Ends the exchange at once, even while the connection is being opened. Its reason is what the exchange throws. */
  signal: AbortSignal;
  /** Called when the connection is ready and the first byte is about to leave. */
  onSend: () => void;
}

/** The head of an answer, and its body while it comes in. */
interface OpenAnswer {
  status: number;
  headers: Headers;
  body: OpenBody;
  /** Most bytes that the body may have. */
  limit: number;
  isCuttable: boolean;
}

/**
 * Makes one request and takes one answer, following nothing. Throws a ServiceError for all that ends it early; the
 * connection is then closed, never returned to the pool. It handles undici's `dispatch` itself because undici's
 * `request` and `fetch` keep an object for each chunk, know no limits of one call, and the first cannot be aborted
 * while it connects.
 */
export async function fetchOnce(
  dispatcher: Dispatcher,
  request: OutgoingRequest,
  { limits, isCutAllowed, getWantedBytes, isBodySkipped, signal, onSend }: ExchangeOptions,
): Promise<RawAnswer> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const host = request.url.hostname;
  let pieces = 0;
  let interim = 0;
  let isOver = false;
  let answer: OpenAnswer | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  const tooLarge = (what: string) => buildFetchFailure('too_large', `The host ${host} sent ${what}.`);
  const longBody = (limit: number) => tooLarge(`a body of more than ${limit} bytes`);

  function settle(): void {
    isOver = true;
    stopWaiting();
    signal.removeEventListener('abort', stop);
  }
  function finish({ status, headers, body }: OpenAnswer): void {
    settle();
    const bytes = body.take();
    resolve({ status, headers, body: bytes, receivedBytes: body.length, isCut: body.length > bytes.byteLength });
  }
  function fail(error: unknown): void {
    settle();
    answer?.body.drop();
    reject(getFetchFailure(error, host, controller !== undefined));
  }
  // Without a controller the request still waits for its connection: it is answered for here, and dropped when its
  // turn comes.
  function stop(): void {
    fail(signal.reason);
    controller?.abort(signal.reason);
  }
  const stopWaiting = startDeadline(limits.connectMs, (wasHeldUp) => {
    const message = `The host ${host} took longer than ${limits.connectMs} ms to connect to.`;
    fail(wasHeldUp ? buildFetchFailure('held_up', BUSY) : buildFetchFailure('timeout', message));
  });
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
        if (isOver) {
          started.abort(new Error('the request is no longer wanted'));
          return;
        }
        stopWaiting();
        controller = started;
        onSend();
      },
      onResponseStart(started, status, rawHeaders) {
        if (status < 200) interim += 1;
        if (interim > limits.headerFields || countFields(rawHeaders) > limits.headerFields) {
          started.abort(tooLarge('more header fields than are accepted'));
          return;
        }
        if (status < 200) return;
        const headers = buildHeaders(rawHeaders);
        const isEncoded = headers.has('content-encoding');
        const wanted = isBodySkipped(status, headers) ? 0 : getWantedBytes(status);
        // What is encoded is of use whole or not at all.
        const limit = isEncoded && wanted > 0 ? Math.min(limits.bodyBytes, wanted) : limits.bodyBytes;
        answer = { status, headers, body: openBody(limit, wanted), limit, isCuttable: isCutAllowed && !isEncoded };
        const isLonger = request.method !== 'HEAD' && Number(headers.get('content-length')) > limit;
        if (isBodySkipped(status, headers)) {
          finish(answer);
          started.abort(new Error('the rest of the answer is not needed'));
        } else if (isLonger && !answer.isCuttable) started.abort(longBody(limit));
      },
      onResponseData(started, chunk) {
        pieces += 1;
        if (pieces > limits.bodyPieces) {
          started.abort(tooLarge(`a body in more than ${limits.bodyPieces} pieces`));
          return;
        }
        if (!answer || isOver || answer.body.add(chunk)) return;
        if (answer.isCuttable) finish(answer);
        started.abort(longBody(answer.limit));
      },
      onResponseEnd() {
        if (answer && !isOver) finish(answer);
      },
      onResponseError(_started, error) {
        fail(error);
      },
    },
  );
  return promise;
}

const BUSY = 'This process was too busy to open a connection.';

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Counts the header fields, repeated ones one by one. */
function countFields(raw: RawHeaders): number {
  return Object.values(raw).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
}

function buildHeaders(raw: RawHeaders): Headers {
  const fields = Object.entries(raw).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(fields);
}
