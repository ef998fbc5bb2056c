import { describe, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { agentList } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeFolder, makeRoute, NOW } from '../builders.ts';
import { makeCopied } from '../recorded.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { declareListings, recordDeclaration } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';
import { serveLive } from './serving.ts';

/** A listing whose words all of them have; `weight` more of them rank it higher. */
function makeTides(slug: string, host: string, weight = 0) {
  return makeDeclaration({
    slug,
    base_url: `https://${host}`,
    title: `Tides ${slug}`,
    tagline: `Tides. ${'Tides at a harbour. '.repeat(weight)}`.trim(),
    description: `Tides, as ${slug} has them.`,
    provider_name: host,
    category: 'Data',
    routes: [makeRoute({ path: `/${slug}/tides`, description: `Tides of ${slug}.` })],
  });
}

const BIG = Array.from({ length: 58 }, (_, at) => makeTides(`big-${at}`, `h${at}.big-provider.com`, 2));
const SMALL = Array.from({ length: 9 }, (_, at) => makeTides(`small-${at}`, `api.small-${at}.com`));
const SEARCH = '/agent/list?q=tides';

async function serveTides() {
  const catalogue = await makeCopied('tides', (made) => declareListings(made, [...BIG, ...SMALL]));
  const { get } = await serveLive(catalogue);
  return { list: async (path: string) => agentList.parse(await (await get(path)).json()) };
}

function listSlugs({
  listings,
  folded = [],
}: Pick<Awaited<ReturnType<typeof agentList.parse>>, 'listings' | 'folded'>) {
  return { rows: listings.map(({ slug }) => slug), behind: folded.flatMap(({ slugs }) => slugs) };
}

describe('an answer to words', () => {
  it('shows three listings of one provider, and names the others', async () => {
    const { list } = await serveTides();
    const { rows, behind } = listSlugs(await list(`${SEARCH}&limit=100`));
    expect(rows.filter((slug) => slug.startsWith('big'))).toHaveLength(3);
    expect(rows.filter((slug) => slug.startsWith('small'))).toHaveLength(9);
    const { total, folded } = await list(`${SEARCH}&limit=100`);
    expect([total, new Set([...rows, ...behind]).size]).toEqual([67, 67]);
    expect(folded).toMatchObject([{ provider: 'big-provider.com', slugs: { length: 55 } }]);
  });

  it.each([1, 2, 5, 10, 30])('shows each listing on one page, by %i a page', async (limit) => {
    const { list } = await serveTides();
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await list(`${SEARCH}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
      const { rows, behind } = listSlugs(page);
      expect([page.total, page.filters.limit, rows.length <= limit]).toEqual([67, limit, true]);
      seen.push(...rows, ...behind);
      cursor = page.next_cursor;
    }
    expect(seen).toHaveLength(67);
    expect(new Set(seen).size).toBe(67);
  });

  it('fills its page in place of a few that are folded', async () => {
    const catalogue = await makeCatalogue();
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (const declaration of [...BIG.slice(0, 12), ...SMALL]) await recordDeclaration(writing, declaration);
    });
    const { get } = await serveLive(catalogue);
    const { rows, behind } = listSlugs(await (await get(`${SEARCH}&limit=10`)).json());
    expect([rows.length, behind.length]).toEqual([10, 9]);
  });

  it('has all rows of a provider that is asked for', async () => {
    const { list } = await serveTides();
    for (const asked of ['provider=h7.big-provider.com', 'host=h7.big-provider.com']) {
      const { rows, behind } = listSlugs(await list(`${SEARCH}&${asked}`));
      expect([rows, behind]).toEqual([['big-7'], []]);
    }
  });
});

it('a list without words has a row for each listing', async () => {
  const { list } = await serveTides();
  for (const query of ['', '?category=Data', '?sort=price']) {
    const { rows, behind } = listSlugs(await list(`/agent/list${query}`));
    expect([new Set(rows).size, behind]).toEqual([67, []]);
  }
});

describe('a page for people', () => {
  async function servePages() {
    const fixture = await makeSiteFixture(makeFolder(), { count: 0 });
    await writeCatalogue(fixture.catalogue, NOW, async (writing) => {
      for (const declaration of [...BIG.slice(0, 9), ...SMALL]) await recordDeclaration(writing, declaration);
    });
    const server = await serveSiteFixture({ fixture, written: false });
    return async (path: string) => {
      const { text } = await ask(server, path);
      const [, fold = ''] =
        /<li class="card-more">(.*?<\/details>.*?)<\/li>/s.exec(text.replaceAll(/<ul class="cards">/g, '')) ?? [];
      const [before = '', after = ''] = text.split('<li class="card-more">');
      const summary = /<summary>([^<]*)<\/summary>/.exec(after)?.[1];
      const inside = after.split('</details>')[0] ?? '';
      const count = (part: string) => part.match(/<li class="card">/g)?.length ?? 0;
      return { text, fold, summary, shown: count(before), inside: count(inside), all: count(text) };
    };
  }

  it('of a category or a search folds a provider behind three rows, and has them all', async () => {
    const read = await servePages();
    for (const [path, all] of [
      ['/category/data', 18],
      ['/search?q=tides', 18],
      ['/search', 18],
    ] as const) {
      const page = await read(path);
      expect([path, page.all, page.inside, page.summary]).toEqual([
        path,
        all,
        6,
        '6 more listings of big-provider.com',
      ]);
      expect(page.text).toContain('href="/provider/big-provider.com"');
      expect(page.text).toContain('18 listings');
    }
  });

  it('of one provider has a row for each of its listings', async () => {
    const read = await servePages();
    for (const path of ['/provider/big-provider.com', '/search?host=h3.big-provider.com'])
      expect([path, (await read(path)).summary]).toEqual([path, undefined]);
    expect((await read('/provider/big-provider.com')).all).toBe(9);
  });
});

it('a request that is a price alone is a list, of which nothing is folded', async () => {
  const { list } = await serveTides();
  const { rows, behind } = listSlugs(await list('/agent/list?q=under+1+cent&limit=100'));
  expect([rows.length, behind]).toEqual([67, []]);
});
