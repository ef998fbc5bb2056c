import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';
import type { Following } from '../published/live-file.ts';
import { BADGE_STYLE } from '../views/badge.ts';
import { DEPRECATIONS } from '../views/changelog.ts';
import { buildLinkHeader } from '../views/conventions.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import { PAGE_LOADER } from '../views/pages/page-loader.ts';
import { matchPath } from '../views/routes.ts';
import { listMethods } from './refusals.ts';
import type { Env } from './request.ts';

/** Headers that pages of any site may read. */
export const EXPOSED = [
  'ETag',
  'X-Catalogue-Revision',
  'X-Catalogue-Age',
  'X-Request-Id',
  'Link',
  'Deprecation',
  'Sunset',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
];

/** Time for which a browser may cache the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = 24 * 60 * 60;

/** Routes of pages that ask providers for their terms: the page of a listing, and of one of its routes. */
const ASKING = [PATHS.listing('{slug}'), PATHS.route('{slug}', '{method}-{route}')];

/** Adds the security headers. Only pages of listings may ask providers. */
export function secure(baseUrl: string, allowPrivateNetworks: boolean): MiddlewareHandler<Env> {
  const build = (isAsking: boolean) => secureHeaders(buildSecurityHeaders(baseUrl, { isAsking, allowPrivateNetworks }));
  const [asking, other] = [build(true), build(false)];
  return (c, next) => (ASKING.includes(matchPath(c.req.path).route) ? asking : other)(c, next);
}

const HSTS_SECONDS = 2 * 365 * 24 * 60 * 60;

/** Hosts of this machine, at any port. */
const LOOPBACK = ['http://127.0.0.1:*', 'http://localhost:*'];

/** Hosts that a page may connect to besides this service. */
interface Connecting {
  /** True if it may ask providers, which have https addresses. */
  readonly isAsking: boolean;
  /** True if providers may also be on this machine. */
  readonly allowPrivateNetworks: boolean;
}

/**
 * Builds the settings of the security headers. Pages load nothing from elsewhere (those of listings ask providers for their
 * terms), run no inline script but their loader, and cannot be framed. All answers are public, so any site may load them.
 */
function buildSecurityHeaders(
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
      fontSrc: ["'self'"],
      connectSrc: ["'self'", ...(isAsking ? ['https:', ...(allowPrivateNetworks ? LOOPBACK : [])] : [])],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    permissionsPolicy: { camera: false, geolocation: false, microphone: false, payment: false, usb: false },
    referrerPolicy: 'strict-origin-when-cross-origin',
    crossOriginResourcePolicy: 'cross-origin',
    strictTransportSecurity: baseUrl.startsWith('https:') && `max-age=${HSTS_SECONDS}`,
    // For browsers that do not support the policy above.
    xFrameOptions: 'DENY',
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  };
}

/** Allows the one inline style of badges, and nothing else. Runs around `secure`. */
export const allowBadgeStyle: MiddlewareHandler = async (c, next) => {
  await next();
  const style = createHash('sha256').update(BADGE_STYLE).digest('base64');
  c.res.headers.set(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; frame-ancestors 'none'`,
  );
};

/** Keeps reports of checks out of search engines and caches, and their addresses out of referrers. Runs around `secure`. */
export const keepPrivate: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set('Referrer-Policy', 'no-referrer');
  c.res.headers.set('X-Robots-Tag', 'noindex');
  c.res.headers.set('Cache-Control', 'no-store');
};

/**
 * Adds to a deprecated address the times of its deprecation (RFC 9745) and removal (RFC 8594), and links to its successor and an
 * explanation.
 */
export function announceDeprecation(baseUrl: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    const deprecation = DEPRECATIONS.find(({ path }) => path === c.req.path);
    if (!deprecation) return;
    c.header('Deprecation', `@${Date.parse(deprecation.announced_at) / 1000}`);
    c.header('Sunset', new Date(deprecation.gone_at).toUTCString());
    c.header('Link', `<${buildUrl(baseUrl, PATHS.docsChangelog)}>; rel="deprecation"; type="text/html"`, {
      append: true,
    });
    c.header('Link', `<${buildUrl(baseUrl, deprecation.successor)}>; rel="successor-version"`, { append: true });
  };
}

/** Adds the `Link` header to answers that do not have one. */
export function addLinkHeader(baseUrl: string): MiddlewareHandler<Env> {
  const link = buildLinkHeader(baseUrl);
  return async (c, next) => {
    await next();
    // `c.header` would copy the finished answer.
    if (!c.res.headers.has('Link')) c.res.headers.set('Link', link);
  };
}

/** Adds `X-Catalogue-Age` while the catalogue cannot be followed: the seconds since it was last read. */
export function setAgeHeader(following: Pick<Following, 'getReadAt' | 'findAge'> | undefined): MiddlewareHandler {
  return async (c, next) => {
    // Read before the answer is made, which may use what was read before the catalogue came back.
    const readAt = following?.getReadAt();
    await next();
    const age = following?.findAge(readAt);
    if (age !== undefined) c.res.headers.set('X-Catalogue-Age', String(Math.floor(age / 1000)));
  };
}

const allowOrigins = cors({
  origin: '*',
  allowMethods: (_, c) => [...listMethods(c.req.path)],
  exposeHeaders: EXPOSED,
  maxAge: PREFLIGHT_SECONDS,
});

/**
 * Lets pages of any site read answers. The headers are added to the finished answer; `cors` alone would create one that is copied
 * later.
 */
export const addCorsHeaders: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  if (c.req.method !== 'OPTIONS') await allowOrigins(c, async () => undefined);
};

/** Answers preflights. */
export const answerPreflights: MiddlewareHandler<Env> = (c, next) =>
  c.req.method === 'OPTIONS' ? allowOrigins(c, next) : next();
