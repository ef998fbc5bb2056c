import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PATHS } from '../../src/views/links.ts';
import { matchPath, OTHER, ROUTES } from '../../src/views/routes.ts';

/** Every address of the service, those with a variable part with something in its place. */
const ADDRESSES = Object.values(PATHS).map((path) =>
  typeof path === 'string'
    ? path
    : (path as (part: string, page?: number | string) => string)('some-1', path === PATHS.route ? 'get-2' : 2),
);

it('gives every address of the service a label of its own, without its variable part', () => {
  expect(ADDRESSES.length).toBeGreaterThan(50);
  for (const path of ADDRESSES) {
    const { route } = matchPath(path);
    expect([path, ROUTES.includes(route), route !== OTHER]).toEqual([path, true, true]);
    expect(route).not.toContain('some-1');
    expect(matchPath(`${path}?q=secret`).route).toBe(route);
  }
});

it('names the variable part of an address, the first where it has several', () => {
  expect(matchPath('/api/open-meteo.md?page=2').value).toBe('open-meteo');
  expect(matchPath('/provider/example.com/2').value).toBe('example.com');
  expect(matchPath('/agent/list').value).toBe('');
});

it.each([
  ['/api/open-meteo', '/api/{slug}'],
  ['/api/open-meteo.md', '/api/{slug}.md'],
  ['/agent/listings/x', '/agent/listings/{slug}'],
  ['/category/finance', '/category/{category}'],
  ['/_astro/page.BxU1.css', '/_astro/{file}'],
  ['/sitemap-12.xml', '/sitemap-{part}.xml'],
  ['/api/a/b', OTHER],
  ['/wp-login.php', OTHER],
  ['//api/x', OTHER],
  ['*', OTHER],
  ['', OTHER],
])('counts %s as %s', (path, route) => {
  expect(matchPath(path).route).toBe(route);
});

it('has no more labels than the service has addresses, whatever is asked for', () => {
  expect(ROUTES.length).toBeLessThan(90);
  fc.assert(fc.property(fc.string(), (path) => ROUTES.includes(matchPath(`/${path}`).route)));
  fc.assert(fc.property(fc.webPath(), (path) => ROUTES.includes(matchPath(path).route)));
});
