import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getBetter, listMisses, type PageMeasure } from '../../scripts/audit/limits.ts';
import { buildTable } from '../../scripts/audit/table.ts';

const ROOT = join(import.meta.dirname, '../..');

function makeMeasure(overrides: Partial<PageMeasure> = {}): PageMeasure {
  return {
    name: 'listing',
    path: '/api/example',
    scores: { performance: 100, seo: 100 },
    fcp_ms: 760,
    lcp_ms: 1060,
    failing: [],
    ...overrides,
  };
}

const failing = [
  { category: 'seo', id: 'is-crawlable', title: 'Page is blocked from indexing' },
  { category: 'performance', id: 'speed-index', title: 'Speed Index' },
];

it.each([
  ['nothing', {}, []],
  ['a category below 100', { scores: { performance: 100, seo: 99 }, failing }, ['seo 99: is-crawlable']],
  ['no category at all', { scores: {} }, ['no category was scored']],
  ['a first paint after a second', { fcp_ms: 1000 }, ['first-contentful-paint 1000 ms']],
  ['a first paint that was not measured', { fcp_ms: Number.NaN }, ['first-contentful-paint NaN ms']],
] as const)('finds missed: %s', (_, overrides, misses) => {
  expect(listMisses(makeMeasure(overrides))).toEqual(misses);
});

it('takes the better of two measures: that which misses less, else the faster', () => {
  const [slow, fast] = [makeMeasure({ fcp_ms: 1200 }), makeMeasure({ fcp_ms: 900 })];
  expect(getBetter(slow, fast)).toBe(fast);
  expect(getBetter(fast, slow)).toBe(fast);
  const low = makeMeasure({ fcp_ms: 700, scores: { performance: 98 } });
  expect(getBetter(low, fast)).toBe(fast);
});

it('prints a line for each page and says what misses, by the names of Lighthouse', () => {
  const good = makeMeasure({ name: 'home', path: '/' });
  expect(buildTable([good, makeMeasure()])).toMatchInlineSnapshot(`
    "page     performance  seo     FCP      LCP
    home             100  100  760 ms  1060 ms
    listing          100  100  760 ms  1060 ms

    All 2 pages: 100 in every category and FCP below 1000 ms."
  `);
  expect(buildTable([good, makeMeasure({ scores: { performance: 98, seo: 100 }, failing })])).toMatchInlineSnapshot(`
    "page     performance  seo     FCP      LCP
    home             100  100  760 ms  1060 ms
    listing           98  100  760 ms  1060 ms

    1 of 2 pages miss something:
      /api/example
        performance 98: speed-index"
  `);
});

it.each([
  [['--jason'], "Unknown option '--jason'"],
  [['docs'], '"docs" is not the path of a page.'],
  [['//elsewhere.example/'], '"//elsewhere.example/" is not the path of a page.'],
])('refuses %j as wrong usage, before anything is made', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/audit.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, BASE_URL: '' },
  });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`error: ${message}`);
  expect(stderr).toMatch(/^hint: npm run audit -- \[--json\] \[path…\]/m);
});
