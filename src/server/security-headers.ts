import { createHash } from 'node:crypto';
import { PUBLIC_HEADERS } from '../live/public-headers.ts';
import { PAGE_LOADER } from '../views/page-loader.ts';

/**
 * Builds the policy: pages load nothing from elsewhere, run no inline script but the loader of their own, and cannot be
 * framed; documents are read, never run.
 */
function buildContentSecurityPolicy(): string {
  const loader = createHash('sha256').update(PAGE_LOADER).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${loader}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const HSTS_SECONDS = 2 * 365 * 24 * 60 * 60;

/** Builds the headers that every answer carries, as a flat list of names and values. */
export function buildSecurityHeaders(baseUrl: string): readonly string[] {
  return [
    ...['Content-Security-Policy', buildContentSecurityPolicy()],
    ...['X-Content-Type-Options', 'nosniff'],
    ...['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ...['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ...['Cross-Origin-Opener-Policy', 'same-origin'],
    ...(baseUrl.startsWith('https:') ? ['Strict-Transport-Security', `max-age=${HSTS_SECONDS}`] : []),
  ];
}

/** Says whether pages of other sites may read an answer of a media type: what agents read; no pages and assets for people. */
export function isShareable(type: string): boolean {
  return !/^text\/(html|css|javascript)|^image\//.test(type);
}

/** Names and values of who may load an answer from another site. */
export function getSharingHeaders(type: string): readonly string[] {
  return isShareable(type)
    ? ['Cross-Origin-Resource-Policy', 'cross-origin', ...Object.entries(PUBLIC_HEADERS).flat()]
    : ['Cross-Origin-Resource-Policy', 'same-origin'];
}
