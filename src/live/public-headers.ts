/**
 * Headers by which any page or agent may read the live documents from a browser: all of them are public. They go into
 * each response as it is made, since touching a finished one would cost the server its fast path.
 */
export const PUBLIC_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Catalogue-Revision, Link, RateLimit, RateLimit-Policy, Retry-After',
};
