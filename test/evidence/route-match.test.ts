import { describe, expect, it } from 'vitest';
import { buildRouteIndex, isResourceOf, listMatchingRoutes } from '../../src/evidence/route-match.ts';
import { startProcessorTime } from '../processor-time.ts';

const BASE = 'https://api.example.com/base';

/** Lists the paths of the routes that match a called address. */
function match(paths: string[], called: string, base = BASE): string[] {
  const index = buildRouteIndex(
    base,
    paths.map((path) => ({ path })),
  );
  return listMatchingRoutes(index, new URL(called)).map(({ path }) => path);
}

describe('a called address', () => {
  it.each([
    ['the route as it is', '/v1/x', `${BASE}/v1/x`],
    ['with a slash at the end', '/v1/x', `${BASE}/v1/x/`],
    ['of a route that is declared with one', '/v1/x/', `${BASE}/v1/x`],
    ['with a query', '/v1/x', `${BASE}/v1/x?text=a&text=b`],
    ['in another spelling of the host', '/v1/x', 'HTTPS://API.example.com:443/base/v1/x'],
    ['in percent-encoding', '/v1/x y', `${BASE}/v1/%78%20y`],
    ['of a route at the base address itself', '/', `${BASE}`],
    ['with a named segment filled in', '/v1/:id/show', `${BASE}/v1/0xAb.c-1/show`],
    ['with a braced one filled in', '/v1/{id}', `${BASE}/v1/caf%C3%A9`],
    ['with a part of a segment filled in', '/v1/{id}.json', `${BASE}/v1/a.b.json`],
    ['with several parts filled in', '/v1/{from}-{to}.csv', `${BASE}/v1/a-b-c.csv`],
    ['that leaves the template as it is', '/v1/{id}', `${BASE}/v1/{id}`],
    ['with the fixed query of the route', '/v1/x?mode=fast', `${BASE}/v1/x?a=1&mode=fast`],
    ['with a query value filled in', '/v1/x?id={id}&to=:to', `${BASE}/v1/x?to=2&id=1`],
  ])('%s matches', (_what, path, called) => {
    expect(match([path], called)).toEqual([path]);
  });

  it.each([
    ['of another path', '/v1/x', `${BASE}/v1/y`],
    ['in other case', '/v1/x', `${BASE}/V1/x`],
    ['with a segment more', '/v1/:id', `${BASE}/v1/1/2`],
    ['with a segment less', '/v1/:id', `${BASE}/v1`],
    ['with nothing for a template', '/v1/{id}.json', `${BASE}/v1/.json`],
    ['whose parts overlap', '/v1/a{x}a', `${BASE}/v1/aa`],
    ['with another value of the fixed query', '/v1/x?mode=fast', `${BASE}/v1/x?mode=slow`],
    ['without the fixed query', '/v1/x?mode=fast', `${BASE}/v1/x`],
    ['above the base address', '/v1/x', 'https://api.example.com/v1/x'],
  ])('%s does not match', (_what, path, called) => {
    expect(match([path], called)).toEqual([]);
  });

  it('lists the most specific route first', () => {
    const paths = ['/v1/:id', '/v1/latest', '/v1/latest?full=yes', '/:version/latest'];
    expect(match(paths, `${BASE}/v1/latest?full=yes`)).toEqual([
      '/v1/latest?full=yes',
      '/v1/latest',
      '/v1/:id',
      '/:version/latest',
    ]);
  });

  it('is found by path if the base address has a query', () => {
    expect(match(['/v1/x'], 'https://api.example.com/b/v1/x', 'https://api.example.com/b?tier=1')).toEqual(['/v1/x']);
  });

  it('is matched quickly, whatever the pattern', () => {
    const path = `/${'{a}b'.repeat(400)}`;
    const getWork = startProcessorTime();
    for (let round = 0; round < 20; round += 1) match([path], `https://e.com/${'b'.repeat(1500)}c`, 'https://e.com');
    expect(getWork()).toBeLessThan(1000);
  });
});

describe('the resource of a challenge', () => {
  const called = new URL('https://api.example.com/v1/x/7?a=1');

  it.each([
    'https://api.example.com/v1/x/7',
    'http://api.example.com:8080/v1/x/7/?b=2',
    'https://api.example.com/v1/x/:id',
    'https://api.example.com/v1/x/{id}',
    '/v1/x/7',
  ])('%s is the called address', (resource) => {
    expect(isResourceOf(resource, called)).toBe(true);
  });

  it.each(['https://api.example.com/v1/y', 'https://elsewhere.example/v1/x/7', 'https://[', 'mcp://tool/x'])(
    '%s is something else',
    (resource) => {
      expect(isResourceOf(resource, called)).toBe(false);
    },
  );
});
