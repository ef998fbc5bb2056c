import { describe, expect, it } from 'vitest';
import { DOCS_SIDEBAR, listHeadings } from '../../src/views/pages/docs-pages.ts';
import { makeReadCatalogue } from '../published/catalogues.ts';
import { listAttributes, openPages } from './site.ts';

const PAGES = DOCS_SIDEBAR.flatMap(({ pages }) => pages);
const PATHS = PAGES.map(({ path }) => path);

/** The links of the navigation with a name, as tags. */
function listLinks(html: string, name: string): string[] {
  const [, inner = ''] = new RegExp(`<nav [^>]*aria-label="${name}"[^>]*>(.*?)</nav>`, 's').exec(html) ?? [];
  return inner.match(/<a [^>]*>/g) ?? [];
}

const listTargets = (links: readonly string[]) => links.flatMap((link) => listAttributes(link, 'href'));

describe.each(PAGES)('the page $path of the documentation', ({ path }) => {
  it('has all pages beside it, the headings of its own, and the pages before and after', async () => {
    const { html } = await (await openPages((await makeReadCatalogue({})).reading)).get(path);
    const beside = listLinks(html, 'Documentation');
    expect(listTargets(beside)).toEqual(PATHS);
    expect(listTargets(beside.filter((link) => link.includes('aria-current="page"')))).toEqual([path]);

    const main = html.slice(html.indexOf('<main id="main"'), html.indexOf('</main>'));
    expect(main).toContain('<h1');
    expect(main).not.toContain('aria-label="Documentation"');
    const headings = main.match(/<h2\b[^>]*>/g)?.map((tag) => listAttributes(tag, 'id')[0]) ?? [];
    const contents = listTargets(listLinks(html, 'On this page')).map((target) => target.slice(1));
    expect(contents.filter((id) => headings.includes(id))).toEqual(headings);
    const ids = listAttributes(main, 'id');
    expect(contents.filter((id) => !ids.includes(id))).toEqual([]);

    const turns = listLinks(main, 'Previous and next page');
    const at = PATHS.indexOf(path);
    expect(turns.map((link) => [listAttributes(link, 'rel')[0], listAttributes(link, 'href')[0]])).toEqual([
      ...(at > 0 ? [['prev', PATHS[at - 1]]] : []),
      ...(at < PATHS.length - 1 ? [['next', PATHS[at + 1]]] : []),
    ]);
  });
});

describe('the contents of a page', () => {
  it('are its headings of the second level that have an id, wherever that stands', () => {
    const html = '<h2 id="one">One</h2><h3 id="not">Not</h3><h2 data-id="a" id="two">2 <code>x</code></h2><h2>No</h2>';
    expect(listHeadings(html)).toEqual([
      { id: 'one', title: 'One' },
      { id: 'two', title: '2 <code>x</code>' },
    ]);
  });
});

describe('the changelog', () => {
  it('writes what was written as code as code', async () => {
    const { html, text } = await (await openPages((await makeReadCatalogue({})).reading)).get('/docs/changelog');
    expect(html).toContain('<code>POST /providers/check</code>');
    expect(text).not.toContain('`');
  });
});
