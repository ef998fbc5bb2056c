import type { Dispatcher } from 'undici';
import { type OpenBody, openBody } from './body.ts';
import { startDeadline } from './deadline.ts';
import { buildFetchFailure, getFetchFailure } from './failure.ts';
import type { FetchLimits } from './limits.ts';
import type { OutgoingRequest } from './request.ts';

/** One answer as received, before content codings are undone. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** Bytes of the body that were received, including dropped ones. */
  receivedBytes: number;
  /** True if this is only the beginning of the body. */
  isCut: boolean;
  /**
   * Time from the first byte sent to the last byte received, in whole milliseconds. Opening the connection is left out.
   */
  elapsedMs: number;
}

export interface ExchangeOptions {
  limits: FetchLimits;
  /** True to return the beginning of a body that is longer than `bodyBytes` and not encoded. */
  isCutAllowed: boolean;
  /** Returns the number of bytes of the body to keep, by the status of the answer. */
  getWantedBytes: (status: number) => number;
  /** Returns whether the body is not needed. Then the connection ends after the headers. */
  isBodySkipped: (status: number, headers: Headers) => boolean;
  /** Ends the exchange at once, even while the connection is being opened. The exchange throws its reason. */
  signal: AbortSignal;
  /** Called when the connection is ready, just before the first byte is sent. */
  onSend: () => void;
}

/** The head of an answer, and its body while it is received. */
interface OpenAnswer {
  status: number;
  headers: Headers;
  body: OpenBody;
  /** Most bytes that the body may have. */
  limit: number;
  isCuttable: boolean;
}

/**
 * Makes one request and reads one answer, without following redirects. Throws a ServiceError for anything that ends it
 * early; then the connection is closed and not reused. It uses undici's `dispatch`, because `request` and `fetch` keep
 * an object for each chunk and have no limits for one call, and `request` cannot be aborted while it connects.
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
  let headerBytes = 0;
  let isOver = false;
  let answer: OpenAnswer | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let sentMs = 0;
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
    const elapsedMs = Math.round(performance.now() - sentMs);
    const isCut = body.length > bytes.byteLength;
    resolve({ status, headers, body: bytes, receivedBytes: body.length, isCut, elapsedMs });
  }
  function fail(error: unknown): void {
    settle();
    const failure = getFetchFailure(error, host, controller !== undefined);
    failure.details.received = answer?.body.length ?? 0;
    answer?.body.drop();
    reject(failure);
  }
  // A request without a controller still waits for its connection. It fails here, and is dropped when its turn comes.
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
      // The deadline of the signal covers both.
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
        sentMs = performance.now();
        onSend();
      },
      onResponseStart(started, status, rawHeaders) {
        if (status < 200) interim += 1;
        if (interim > limits.headerFields || countFields(rawHeaders) > limits.headerFields) {
          started.abort(tooLarge('more header fields than are accepted'));
          return;
        }
        headerBytes += countBytes(rawHeaders);
        if (headerBytes > limits.headerBytes) {
          started.abort(tooLarge('more header bytes than are accepted'));
          return;
        }
        if (status < 200) return;
        const headers = buildHeaders(rawHeaders);
        const isEncoded = headers.has('content-encoding');
        const wanted = isBodySkipped(status, headers) ? 0 : getWantedBytes(status);
        // An encoded body is only useful as a whole.
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

/** Counts the header fields; repeated fields count one by one. */
function countFields(raw: RawHeaders): number {
  return Object.values(raw).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
}

/** Counts the bytes of header fields, without what is between them. */
function countBytes(raw: RawHeaders): number {
  return Object.entries(raw).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
}

function buildHeaders(raw: RawHeaders): Headers {
  const fields = Object.entries(raw).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(fields);
}
