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
  decodedBytes: 20 * 1024 * 1024,
  redirects: 3,
});

/** The limits that one call may set for itself; the others belong to the connection and so to the client. */
export type PerFetchLimits = Pick<FetchLimits, 'totalMs' | 'bodyBytes' | 'decodedBytes' | 'headerFields' | 'redirects'>;
