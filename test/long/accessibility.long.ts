import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PAGE_KINDS } from '../browser/page-kinds.ts';
import { openPage, openWorld, visit, type World } from '../browser/world.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** How a page is looked at. */
interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** Lists the accessibility rules that any kind of page breaks, looked at in any of these ways. */
async function listAllViolations(world: World, looks: readonly Look[]): Promise<string[]> {
  const lanes = [PAGE_KINDS.filter((_, at) => at % 2 === 0), PAGE_KINDS.filter((_, at) => at % 2 === 1)];
  const found = await Promise.all(
    lanes.map(async (kinds) => {
      const { page, context } = await openPage(world);
      // Not by the page, whose policy would refuse it, but by the browser.
      await context.addInitScript(AXE);
      const violations: string[] = [];
      for (const { name, path } of kinds) {
        await visit(page, `${world.url}${path}`);
        for (const { width, colorScheme } of looks) {
          await page.setViewportSize({ width, height: 844 });
          await page.emulateMedia({ colorScheme });
          violations.push(...(await listViolations(page)).map((rule) => `${name}, ${colorScheme}, ${width}: ${rule}`));
        }
      }
      return violations;
    }),
  );
  return found.flat();
}

function listViolations(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const axe: unknown = Reflect.get(window, 'axe');
    const run = (
      axe as {
        run: (
          context: object,
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
      }
    ).run;
    // Of a page's very many routes, the first are as the others.
    const context = { exclude: ['.routes > div > :nth-child(n + 12)'] };
    const { violations } = await run(context, { resultTypes: ['violations'], preload: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
    );
  });
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 600_000);
afterAll(() => world.close());

it('no kind of page breaks an accessibility rule, light and dark, at any width', async () => {
  const looks = [320, 390, 768, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  );
  expect(await listAllViolations(world, looks)).toEqual([]);
});
