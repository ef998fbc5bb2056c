import { expect, it } from 'vitest';
import { mergeDeclarations } from '../../src/evidence/declarations.ts';
import { formatRoute } from '../../src/model/route.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../records.ts';

const manifest = makeDeclaration({ routes: [makeRoute({ path: '/x' }), makeRoute({ path: '/y' })] });
const stated = makeDeclaration({
  source: { kind: 'provider', name: 'https://api.example/.well-known/agent-payable.json', observed_at: null },
  routes: [makeRoute({ path: '/x', terms: [makeTerms({ amount: 500_000 })] })],
});
const merge = (...declarations: (typeof manifest)[]) =>
  mergeDeclarations(declarations.map((declaration) => ({ declaration, withdrawn_at: null }))).routes;

it('takes routes and prices from the provider if it itemises them, even if others saw different ones', () => {
  const [only, ...others] = merge(manifest, stated);
  expect(others).toEqual([]);
  expect(only?.route).toMatchObject({ path: '/x', terms: [{ amount: 500_000 }] });
});

it('takes them from all other sources if the provider itemises none', () => {
  const routes = merge(manifest, { ...stated, routes: [] });
  expect(routes.map(({ route }) => formatRoute(route))).toEqual(['GET /x', 'GET /y']);
});
