import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { HtmlValidate, type RuleConfig } from 'html-validate';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PATHS } from '../../src/views/links.ts';
import { PAGE_KINDS } from './page-kinds.ts';
import { openPage, openWorld, visit, type World } from './world.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
/** Of what has to be loaded for the page of a listing, compressed. */
const HTML_AND_CSS_BYTES = 20 * 1024;
const SCRIPT_BYTES = 10 * 1024;

/** Every rule on every page, four times over, on machines of any speed. */
const SLOW = { timeout: 180_000 };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('breaks no accessibility rule on any kind of page, light and dark, on a phone and on a desk', SLOW, async () => {
  const lanes = [PAGE_KINDS.filter((_, at) => at % 2 === 0), PAGE_KINDS.filter((_, at) => at % 2 === 1)];
  const found = await Promise.all(
    lanes.map(async (kinds) => {
      const { page, context } = await openPage(world);
      // Not by the page, whose policy would refuse it, but by the browser.
      await context.addInitScript(AXE);
      const violations: string[] = [];
      for (const { name, path } of kinds) {
        await visit(page, `${world.url}${path}`);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 844 });
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            // What has no colour is the same in the dark.
            const rules = await listViolations(page, colorScheme === 'dark' ? ['color-contrast'] : undefined);
            violations.push(...rules.map((rule) => `${name}, ${colorScheme}, ${width}: ${rule}`));
          }
        }
      }
      return violations;
    }),
  );
  expect(found.flat()).toEqual([]);
});

it('is valid HTML on every kind of page', async () => {
  const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules: RULES });
  const problems: string[] = [];
  for (const { name, path } of PAGE_KINDS) {
    const html = await (await fetch(`${world.url}${path}`)).text();
    const { results } = await validator.validateString(html);
    for (const { ruleId, message, line, column } of results.flatMap(({ messages }) => messages)) {
      problems.push(
        `${name}: ${ruleId}: ${message} (${line}:${column}) ${html.split('\n')[line - 1]?.slice(Math.max(0, column - 60), column + 60)}`,
      );
    }
  }
  expect(problems).toEqual([]);
});

/** Where the recommended rules say something else than the standard, or than what is wanted here. */
const RULES = {
  // What scrolls is reached by keyboard and named; it is no section of the page, and no fieldset.
  'prefer-native-element': ['error', { exclude: ['region', 'group'] }],
  // Safari takes the role from a list that is shown without bullets.
  'no-redundant-role': 'off',
  // A title in the words of a provider is as long as they are.
  'long-title': 'off',
  // Astro writes `<!DOCTYPE html>` and void elements without a slash: both are as the standard has them.
  'doctype-style': 'off',
  'void-style': 'off',
  // Spaces at the end of a line are nobody's concern in a generated document.
  'no-trailing-whitespace': 'off',
} satisfies RuleConfig;

it.each(['example-prices', 'hostile', 'many-routes'])('keeps the page of %s light', async (slug) => {
  const html = await (await fetch(`${world.url}${PATHS.listing(slug)}`)).text();
  const load = (pattern: RegExp) =>
    Promise.all(
      [...html.matchAll(pattern)].map(async ([, path]) =>
        Buffer.from(await (await fetch(`${world.url}${path}`)).arrayBuffer()),
      ),
    );
  const styles = await load(/<link rel="stylesheet" href="([^"]+)"/g);
  const scripts = await load(/<script data-src="([^" ]+)"/g);
  expect([styles.length, scripts.length]).toEqual([1, 1]);
  // By gzip, the larger of the two ways in which they are sent.
  const weigh = (parts: readonly (string | Buffer)[]) =>
    parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
  expect(weigh([html, ...styles])).toBeLessThan(HTML_AND_CSS_BYTES);
  expect(weigh(scripts)).toBeLessThan(SCRIPT_BYTES);
  expect(brotliCompressSync(html).length).toBeLessThan(HTML_AND_CSS_BYTES / 2);
});

async function listViolations(page: Page, only?: readonly string[]): Promise<string[]> {
  return page.evaluate(async (rules) => {
    const axe: unknown = Reflect.get(window, 'axe');
    const run = (
      axe as {
        run: (
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
      }
    ).run;
    const { violations } = await run({ resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
    );
  }, only);
}
