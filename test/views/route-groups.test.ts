import { expect, it } from 'vitest';
import { buildRouteRow, groupRoutes, LONG_TABLE, type RouteRow } from '../../src/views/listing/routes.ts';
import { makeDeclaration, makeRoute, NOW } from '../records.ts';
import { makeLiveListing } from './listings.ts';

function makeRows(paths: readonly string[]): RouteRow[] {
  const { routes } = makeLiveListing(makeDeclaration({ routes: paths.map((path) => makeRoute({ path })) }));
  return routes.map((route) => buildRouteRow(route, NOW));
}

const getNames = (rows: readonly RouteRow[]) => groupRoutes(rows).map(({ name, routes }) => [name, routes.length]);

it('groups the routes of a long table by the first part of their path that says something', () => {
  const paths = Array.from({ length: 30 }, (_, at) => `/api/v1/${at % 3 === 0 ? 'maths' : 'text'}/tool-${at}?a=/b`);
  expect(getNames(makeRows(paths))).toEqual([
    ['/api/v1/maths', 10],
    ['/api/v1/text', 20],
  ]);
});

it('leaves a table whole that is short, of one group, or of hardly two routes a group', () => {
  const short = Array.from({ length: LONG_TABLE }, (_, at) => `/${at % 2}/x-${at}`);
  const one = Array.from({ length: 30 }, (_, at) => `/text/${at}`);
  const all = Array.from({ length: 30 }, (_, at) => `/tool-${at}`);
  for (const paths of [short, one, all]) expect(getNames(makeRows(paths))).toEqual([[null, paths.length]]);
});
