import type { Dispatcher } from 'undici';
import type { ServiceError } from '../errors.ts';
import { buildFetchFailure, getFetchFailure } from './failure.ts';
import type { OutgoingRequest } from './request.ts';

/** One answer as received: content codings not yet undone. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

export interface ExchangeOptions {
  /** Most body bytes taken; one more ends the connection. */
  bodyBytes: number;
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
  const chunks: Uint8Array[] = [];
  let received = 0;
  let head: Omit<RawAnswer, 'body'> | undefined;
  let controller: Dispatcher.DispatchController | undefined;

  function finish(answer: RawAnswer): void {
    signal.removeEventListener('abort', stop);
    resolve(answer);
  }
  function fail(error: unknown): void {
    signal.removeEventListener('abort', stop);
    reject(getFetchFailure(error, host));
  }
  // Without a controller the request still waits for its connection: it is answered for here, and dropped when its
  // turn comes.
  function stop(): void {
    fail(signal.reason);
    controller?.abort(signal.reason);
  }
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
        if (status < 200) return;
        head = { status, headers: buildHeaders(rawHeaders) };
        if (options.isBodySkipped(status, head.headers)) {
          finish({ ...head, body: new Uint8Array() });
          started.abort(new Error('the rest of the answer is not needed'));
        } else if (request.method !== 'HEAD' && Number(head.headers.get('content-length')) > options.bodyBytes) {
          started.abort(buildTooLarge(host, options.bodyBytes));
        }
      },
      onResponseData(started, chunk) {
        received += chunk.byteLength;
        if (received > options.bodyBytes) started.abort(buildTooLarge(host, options.bodyBytes));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        if (head) finish({ ...head, body: Buffer.concat(chunks) });
        else fail(new Error('no answer came'));
      },
      onResponseError(_started, error) {
        fail(error);
      },
    },
  );
  return promise;
}

function buildHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of value === undefined ? [] : [value].flat()) headers.append(name, one);
  }
  return headers;
}

function buildTooLarge(host: string, bytes: number): ServiceError {
  return buildFetchFailure('too_large', `The host ${host} sent a body of more than ${bytes} bytes.`);
}
