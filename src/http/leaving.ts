import type { MiddlewareHandler } from 'hono';
import { LEAVING } from '../views/changelog.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { Env } from './env.ts';

/**
 * Says of an address that is to go since when it is deprecated (RFC 9745), when it goes (RFC 8594), what takes its place and
 * where that is explained.
 */
export function announceLeaving(baseUrl: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    const leaving = LEAVING.find(({ path }) => path === c.req.path);
    if (!leaving) return;
    c.header('Deprecation', `@${Date.parse(leaving.announced_at) / 1000}`);
    c.header('Sunset', new Date(leaving.gone_at).toUTCString());
    c.header('Link', `<${buildUrl(baseUrl, PATHS.docsChangelog)}>; rel="deprecation"; type="text/html"`, {
      append: true,
    });
    c.header('Link', `<${buildUrl(baseUrl, leaving.successor)}>; rel="successor-version"`, { append: true });
  };
}
