/** The limits of one fetch. Times are milliseconds, sizes bytes. */
export interface FetchLimits {
  /** Time to resolve the name and open the connection, including TLS. */
  readonly connectMs: number;
  /** Time from the call to the last byte of the last answer, including all redirects. */
  readonly totalMs: number;
  /**
   * Size of the status line and headers of one answer, and of its trailers. A 402 has its challenge here, often over 16
   * KB.
   */
  readonly headerBytes: number;
  /** Number of header fields of one answer, and of 1xx answers before it. */
  readonly headerFields: number;
  /** Size of the body as received, before content codings are undone. */
  readonly bodyBytes: number;
  /** Number of pieces in which a body may arrive, because each takes time: chunks, and reads of the connection. */
  readonly bodyPieces: number;
  /** Size of the body after content codings are undone. */
  readonly decodedBytes: number;
  /** Number of redirects followed in one fetch. */
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

/** The limits that one call may set. The others belong to the connection, and so to the client. */
export type PerFetchLimits = Pick<FetchLimits, 'totalMs' | 'bodyBytes' | 'bodyPieces' | 'decodedBytes' | 'redirects'>;
