import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { PAGE_KINDS } from './page-kinds.ts';
import { openPage, visit, type World } from './world.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** How a page is looked at. */
interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** The rules of axe that are asked; all where none are named. */
  readonly rules?: readonly string[];
  /** The kinds of pages that are looked at so; all where none are named. */
  readonly kinds?: readonly string[];
}

export const PHONE: Look = { width: 390, colorScheme: 'light' };
export const DESK: Look = { width: 1280, colorScheme: 'dark' };
/** Of the same markup in other colours only these can say something new; a page of each style sheet shows the colours. */
export const DESK_COLOURS: Look = {
  ...DESK,
  rules: ['color-contrast', 'link-in-text-block'],
  kinds: ['home', 'search', 'comparison', 'listing in hostile words', 'receipt', 'endpoints', 'market', 'changes'],
};

/** Lists the accessibility rules that any kind of page breaks, looked at in any of these ways. */
export async function listAllViolations(world: World, looks: readonly Look[]): Promise<string[]> {
  const lanes = [PAGE_KINDS.filter((_, at) => at % 2 === 0), PAGE_KINDS.filter((_, at) => at % 2 === 1)];
  const found = await Promise.all(
    lanes.map(async (kinds) => {
      const { page, context } = await openPage(world);
      // Not by the page, whose policy would refuse it, but by the browser.
      await context.addInitScript(AXE);
      const violations: string[] = [];
      for (const { name, path } of kinds) {
        await visit(page, `${world.url}${path}`);
        for (const { width, colorScheme, rules, kinds: only } of looks) {
          if (only && !only.includes(name)) continue;
          await page.setViewportSize({ width, height: 844 });
          await page.emulateMedia({ colorScheme });
          violations.push(
            ...(await listViolations(page, rules)).map((rule) => `${name}, ${colorScheme}, ${width}: ${rule}`),
          );
        }
      }
      return violations;
    }),
  );
  return found.flat();
}

function listViolations(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  return page.evaluate(async (values) => {
    const axe: unknown = Reflect.get(window, 'axe');
    const run = (
      axe as {
        run: (
          context: object,
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
      }
    ).run;
    const asked = values ? { runOnly: { type: 'rule', values } } : {};
    // Of a page's very many routes, the first are as the others.
    const context = { exclude: ['.routes > div > :nth-child(n + 12)'] };
    const { violations } = await run(context, { ...asked, resultTypes: ['violations'], preload: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
    );
  }, rules);
}
