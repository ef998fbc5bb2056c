/** What one fetch may cost us. Times are milliseconds, sizes bytes. */
export interface FetchLimits {
  /** From asking for the name's addresses to a connection ready to use, TLS included. */
  readonly connectMs: number;
  /** From the call to the last byte of the last answer, all redirects included. */
  readonly totalMs: number;
  /** Status line and headers of one answer, trailers likewise. A 402 carries its challenge here, often over 16 KB. */
  readonly headerBytes: number;
  /** Header fields of one answer, and answers of status 1xx before it. */
  readonly headerFields: number;
  /** Body as received, before content codings are undone. */
  readonly bodyBytes: number;
  /** Pieces in which a body may come, each of which takes time: chunks, and what one read of the connection brings. */
  readonly bodyPieces: number;
  /** Body after content codings are undone. */
  readonly decodedBytes: number;
  /** Redirects followed in one fetch. */
  readonly redirects: number;
}

export const DEFAULT_LIMITS: FetchLimits = Object.freeze({
  connectMs: 10_000,
  totalMs: 30_000,
  headerBytes: 128 * 1024,
  headerFields: 256,
  bodyBytes: 5 * 1024 * 1024,
  bodyPieces: Number.POSITIVE_INFINITY,
  decodedBytes: 20 * 1024 * 1024,
  redirects: 3,
});

/** Most pieces of an answer to a probe: the network's own are some 700 where it is as long as it may be. */
export const PROBED_BODY_PIECES = 4_000;

/** The limits that one call may set for itself; the others belong to the connection and so to the client. */
export type PerFetchLimits = Pick<
  FetchLimits,
  'totalMs' | 'bodyBytes' | 'bodyPieces' | 'decodedBytes' | 'headerFields' | 'redirects'
>;
