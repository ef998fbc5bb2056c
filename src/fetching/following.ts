import type { Dispatcher } from 'undici';
import { decodeBody } from './decoding.ts';
import { fetchOnce, type RawAnswer } from './exchange.ts';
import { buildFetchFailure, buildRefusalFailure } from './failure.ts';
import type { PerFetchLimits } from './limits.ts';
import { buildRedirect, isRedirect } from './redirect.ts';
import { isPaying, type OutgoingRequest } from './request.ts';
import { waitFor } from './sockets.ts';

/** A whole answer, whatever its status. */
export interface FetchResponse {
  status: number;
  /** As received; `content-encoding` still says what the body was packed in. */
  headers: Headers;
  /** Content codings undone. */
  body: Uint8Array;
  /** Bytes of the body as they came over the wire. */
  receivedBytes: number;
  /** The body was longer, and this is its beginning; only where the request allows it. */
  isCut?: boolean | undefined;
  /** The address that answered: the last one after redirects. */
  url: string;
  /** The addresses that redirected on the way here, in order, with the status each gave. */
  redirects: readonly { status: number; url: string }[];
}

/** What one fetch has come to so far, for the details of its failure. */
export interface Progress {
  host: string | undefined;
  redirects: { status: number; url: string }[];
  sent: boolean;
}

export interface FollowingContext {
  /** Keeps connections for the next request. */
  keeping: Dispatcher;
  /** Opens a connection for each request. */
  oneOff: Dispatcher;
  allowPrivateNetworks: boolean;
  limits: PerFetchLimits;
  signal: AbortSignal;
  mode: 'follow' | 'manual' | 'error';
  isCutAllowed: boolean;
}

/** Makes a request and the ones that its redirects ask for, by hand, each target checked anew. */
export async function fetchFollowing(
  first: OutgoingRequest,
  context: FollowingContext,
  progress: Progress,
): Promise<FetchResponse> {
  let request = first;
  for (;;) {
    const answer = await fetchHop(request, context, progress);
    if (!isLeft(request, answer, context)) return await buildResponse(request, answer, context, progress);
    request = buildNextRequest(request, answer, context, progress);
  }
}

async function fetchHop(request: OutgoingRequest, context: FollowingContext, progress: Progress): Promise<RawAnswer> {
  progress.host = request.url.hostname;
  progress.sent = false;
  return await fetchOnce(isPaying(request) ? context.oneOff : context.keeping, request, {
    bodyBytes: context.limits.bodyBytes,
    bodyPieces: context.limits.bodyPieces,
    headerFields: context.limits.headerFields,
    isCutAllowed: context.isCutAllowed,
    isBodySkipped: (status, headers) => isLeft(request, { status, headers }, context),
    signal: context.signal,
    onSend: () => {
      progress.sent = true;
    },
  });
}

/** Tells whether an answer is not the end: a redirect that is to be followed or to be an error. */
function isLeft(
  request: OutgoingRequest,
  answer: { status: number; headers: Headers },
  { mode }: FollowingContext,
): boolean {
  return mode !== 'manual' && !(mode === 'follow' && isPaying(request)) && isRedirect(answer.status, answer.headers);
}

function buildNextRequest(
  request: OutgoingRequest,
  answer: RawAnswer,
  { mode, limits, allowPrivateNetworks }: FollowingContext,
  progress: Progress,
): OutgoingRequest {
  const host = request.url.hostname;
  if (mode === 'error') throw buildFetchFailure('redirected', `The host ${host} answers with a redirect.`);
  if (progress.redirects.length >= limits.redirects) {
    throw buildFetchFailure('too_many_redirects', `More than ${limits.redirects} redirects, the last by ${host}.`);
  }
  const location = answer.headers.get('location') ?? '';
  const next = buildRedirect(request, answer.status, location, { allowPrivateNetworks });
  if ('reason' in next) throw buildRefusalFailure(next);
  progress.redirects.push({ status: answer.status, url: request.url.href });
  return next;
}

async function buildResponse(
  request: OutgoingRequest,
  answer: RawAnswer,
  { limits, signal }: FollowingContext,
  progress: Progress,
): Promise<FetchResponse> {
  const options = { maxBytes: limits.decodedBytes, host: request.url.hostname };
  return {
    status: answer.status,
    headers: answer.headers,
    body: await waitFor(decodeBody(answer.body, answer.headers.get('content-encoding'), options), signal),
    receivedBytes: answer.body.byteLength,
    isCut: answer.isCut,
    url: request.url.href,
    redirects: progress.redirects,
  };
}
