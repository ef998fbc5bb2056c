import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { secureHeaders } from 'hono/secure-headers';
import { BADGE_STYLE } from '../views/badge.ts';
import { PAGE_LOADER } from '../views/pages/page-loader.ts';

const HSTS_SECONDS = 2 * 365 * 24 * 60 * 60;

/** Hosts of this machine, at any port. */
const LOOPBACK = ['http://127.0.0.1:*', 'http://localhost:*'];

/** What a page may connect to besides this service. */
export interface Connecting {
  /** Whether it may ask providers, which have https addresses. */
  readonly isAsking: boolean;
  /** Whether providers may be on this machine, too. */
  readonly allowPrivateNetworks: boolean;
}

/**
 * Builds the settings of the headers that every answer carries. Pages load nothing from elsewhere (those of listings ask
 * providers for their terms), run no inline script but the loader of their own, and cannot be framed. All that is answered
 * is public, so any site may load it.
 */
export function buildSecurityHeaders(
  baseUrl: string,
  { isAsking, allowPrivateNetworks }: Connecting,
): Parameters<typeof secureHeaders>[0] {
  const loader = createHash('sha256').update(PAGE_LOADER).digest('base64');
  return {
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'", `'sha256-${loader}'`],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", ...(isAsking ? ['https:', ...(allowPrivateNetworks ? LOOPBACK : [])] : [])],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    permissionsPolicy: { camera: false, geolocation: false, microphone: false, payment: false, usb: false },
    referrerPolicy: 'strict-origin-when-cross-origin',
    crossOriginResourcePolicy: 'cross-origin',
    strictTransportSecurity: baseUrl.startsWith('https:') && `max-age=${HSTS_SECONDS}`,
    // Of browsers that do not read the policy above.
    xFrameOptions: 'DENY',
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  };
}

/** Admits the one style that badges have in them, and nothing else. It runs around the headers of every answer. */
export const admitBadgeStyle: MiddlewareHandler = async (c, next) => {
  await next();
  const style = createHash('sha256').update(BADGE_STYLE).digest('base64');
  c.res.headers.set(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; frame-ancestors 'none'`,
  );
};
