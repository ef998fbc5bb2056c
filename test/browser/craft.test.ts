import { HtmlValidate, type RuleConfig } from 'html-validate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PATHS } from '../../src/views/links.ts';
import { PAGE_KINDS } from './page-kinds.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('is valid HTML on every kind of page', async () => {
  const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules: RULES });
  const problems: string[] = [];
  // The standard lets a form have several fields of one name; only this parameter holds several values.
  const isMeant = (message: string) => message === 'Duplicate form control name "routes"';
  for (const { name, path } of PAGE_KINDS) {
    const html = await (await fetch(`${world.url}${path}`)).text();
    const { results } = await validator.validateString(html);
    for (const { ruleId, message, line, column } of results.flatMap(({ messages }) => messages)) {
      if (isMeant(message)) continue;
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

it('loads one stylesheet and one script with the page of a listing', async () => {
  const html = await (await fetch(`${world.url}${PATHS.listing('example-prices')}`)).text();
  const parts = [...html.matchAll(/<(link rel="stylesheet"|script data-src=)/g)];
  expect(parts.map(([, kind]) => kind)).toEqual(['link rel="stylesheet"', 'script data-src=']);
});
