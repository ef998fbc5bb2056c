/** Pages load nothing from elsewhere, run no inline script and cannot be framed; documents are read, never run. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HSTS_SECONDS = 2 * 365 * 24 * 60 * 60;

/** Builds the headers that every answer carries, as a flat list of names and values. */
export function buildSecurityHeaders(baseUrl: string): readonly string[] {
  return [
    ...['Content-Security-Policy', CONTENT_SECURITY_POLICY],
    ...['X-Content-Type-Options', 'nosniff'],
    ...['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ...['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ...['Cross-Origin-Opener-Policy', 'same-origin'],
    ...(baseUrl.startsWith('https:') ? ['Strict-Transport-Security', `max-age=${HSTS_SECONDS}`] : []),
  ];
}

/** Names and values of who may load an answer from another site: what agents read, everybody; pages and assets, nobody. */
export function getSharingHeaders(type: string): readonly string[] {
  const isForPages = /^text\/(html|css|javascript)|^image\//.test(type);
  return isForPages
    ? ['Cross-Origin-Resource-Policy', 'same-origin']
    : ['Cross-Origin-Resource-Policy', 'cross-origin', 'Access-Control-Allow-Origin', '*'];
}
