import { describe, expect, it } from 'vitest';
import { ALIKE_FROM, foldRoutes } from '../../src/evidence/route-folds.ts';
import type { Route } from '../../src/model/route.ts';
import { makeDeclaration, makeRoute } from '../builders.ts';
import { makeLiveListing } from '../views/listings.ts';

const BASE = 'https://api.coins.example-provider.com/v1';

/** Makes the routes of a listing with these, in their order. */
async function makeRoutes(...routes: { path: string; method?: 'GET' | 'POST'; description?: string }[]) {
  const declared = routes.map((route) => makeRoute({ description: `Text of ${route.path}.`, ...route }));
  const { routes: made } = await makeLiveListing(makeDeclaration({ base_url: BASE, routes: declared }));
  return declared.map(({ method, path }) => made.find((one) => one.method === method && one.path === path) as Route);
}

/** Names routes in the order of readers, each with that which stands for it. */
function fold(routes: readonly Route[], baseUrl = BASE): string[] {
  return foldRoutes(baseUrl, routes).map(({ path, folded_under: under }) =>
    under ? `${path} < ${under.route}` : path,
  );
}

function makeAlike(count: number): { path: string; description: string }[] {
  return Array.from({ length: count }, (_, at) => ({ path: `/r${at}`, description: 'One text.' }));
}

const PROBE = { outcome: 'payable' } as unknown as NonNullable<Route['probe']>;
const PROOF = { receipt_id: 'one' } as unknown as NonNullable<Route['proof']>;
const DANGER = [{ severity: 'danger' }] as unknown as Route['cautions'];

describe('addresses of a template', () => {
  it('are folded under it, behind all other routes, as they are', async () => {
    const routes = await makeRoutes(
      { path: '/price/btc' },
      { path: '/price/{symbol}' },
      { path: '/price/eth?in=eur' },
      { path: '/status' },
    );
    expect(fold(routes)).toEqual([
      '/price/{symbol}',
      '/status',
      '/price/btc < GET /price/{symbol}',
      '/price/eth?in=eur < GET /price/{symbol}',
    ]);
    const [, , btc] = foldRoutes(BASE, routes);
    const { folded_under, ...rest } = btc as Route;
    expect([folded_under, rest]).toEqual([{ route: 'GET /price/{symbol}', because: 'template' }, routes[0]]);
  });

  it.each([
    ['of another method', { path: '/price/{symbol}', method: 'POST' as const }, '/price/btc'],
    ['of more parts', { path: '/price/:symbol' }, '/price/btc/now'],
    ['that begins otherwise', { path: '/price/:symbol' }, '/prices/btc'],
    ['without a name of its own', { path: '/{any}' }, '/btc'],
    ['that is none', { path: '/price/symbol' }, '/price/btc'],
  ])('are not folded under one %s', async (_what, template, path) => {
    expect(fold(await makeRoutes(template, { path }))).toEqual([template.path, path]);
  });

  it('are folded under the template that says most of them', async () => {
    const routes = await makeRoutes({ path: '/:chain/:token' }, { path: '/base/:token' }, { path: '/base/usdc' });
    expect(fold(routes)).toEqual(['/:chain/:token', '/base/:token', '/base/usdc < GET /base/:token']);
  });

  it('keep their row if a payment proved them, or if they are dangerous', async () => {
    const [template, btc, eth, sol] = await makeRoutes(
      { path: '/price/:symbol' },
      { path: '/price/btc' },
      { path: '/price/eth' },
      { path: '/price/sol' },
    );
    const routes = [template, { ...btc, proof: PROOF }, { ...eth, cautions: DANGER }, sol] as Route[];
    expect(fold(routes)).toEqual(['/price/:symbol', '/price/btc', '/price/eth', '/price/sol < GET /price/:symbol']);
  });

  it('are not folded under one that only others name, unless others alone name them, too', async () => {
    const [template, btc] = await makeRoutes({ path: '/price/:symbol' }, { path: '/price/btc' });
    const aside = { ...template, set_aside: true as const };
    expect(fold([aside, btc] as Route[])).toEqual(['/price/:symbol', '/price/btc']);
    expect(fold([aside, { ...btc, set_aside: true }] as Route[])).toEqual([
      '/price/:symbol',
      '/price/btc < GET /price/:symbol',
    ]);
  });
});

describe('routes of one text', () => {
  it(`are one row from ${ALIKE_FROM} on, the last one while none of them was probed`, async () => {
    const few = await makeRoutes(...makeAlike(ALIKE_FROM - 1), { path: '/other' });
    expect(fold(few)).toEqual(few.map(({ path }) => path));
    const many = await makeRoutes(...makeAlike(ALIKE_FROM), { path: '/other' });
    expect(fold(many).slice(0, 3)).toEqual(['/other', '/r0', '/r1 < GET /r0']);
    expect(fold(many)).toHaveLength(ALIKE_FROM + 1);
  });

  it('stand under the one that was probed, which keeps its place', async () => {
    const many = await makeRoutes(...makeAlike(ALIKE_FROM), { path: '/other' });
    const probed = many.map((route) => (route.path === '/r7' ? { ...route, probe: PROBE } : route));
    expect(fold(probed).slice(0, 3)).toEqual(['/r7', '/other', '/r0 < GET /r7']);
  });

  it('stand under one that was paid for, and all such ones have a row', async () => {
    const many = await makeRoutes(...makeAlike(ALIKE_FROM), { path: '/other' });
    const paid = many.map((route) => (/^.r[35]$/.test(route.path) ? { ...route, proof: PROOF } : route));
    expect(fold(paid).slice(0, 4)).toEqual(['/r3', '/r5', '/other', '/r0 < GET /r3']);
  });

  it('keep the row of a template that stands for others', async () => {
    const routes = await makeRoutes(
      ...makeAlike(ALIKE_FROM),
      ...[{ path: '/price/:symbol', description: 'One text.' }, { path: '/price/btc' }],
    );
    expect(fold(routes)).toContain('/price/:symbol');
  });

  it('without a text have nothing in common', async () => {
    const silent = await makeRoutes(...makeAlike(2 * ALIKE_FROM).map((route) => ({ ...route, description: '' })));
    expect(fold(silent)).toEqual(silent.map(({ path }) => path));
  });

  it('are counted without the addresses of a template, which stand under that', async () => {
    const alike = makeAlike(ALIKE_FROM).map(({ description }, at) => ({ path: `/price/${at}`, description }));
    const routes = await makeRoutes(...alike, { path: '/price/:symbol', description: 'One text.' }, { path: '/other' });
    expect(fold(routes).slice(0, 3)).toEqual(['/price/:symbol', '/other', '/price/0 < GET /price/:symbol']);
  });
});
