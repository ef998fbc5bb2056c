import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FetchResponse, GuardedClient } from '../../../src/fetching/client.ts';
import { pullFeed } from '../../../src/sources/bazaar/pull.ts';
import type { FeedPage } from '../../../src/sources/feed.ts';

interface Feed {
  /** For each row whether it is shown. */
  rows: boolean[];
  requested: number;
  cap: number;
  /** What the server says of its paging. */
  states: 'total' | 'total_and_limit' | 'nothing';
}

/** Pulls a feed from memory. Returns the number of different rows, that of requested pages, and how it ended. */
async function pullAll({ rows, requested, cap, states }: Feed) {
  const limit = Math.min(requested, cap);
  const client: Pick<GuardedClient, 'fetch'> = {
    fetch: async (address) => {
      const offset = Number(new URL(address).searchParams.get('offset'));
      const items = rows
        .slice(offset, offset + limit)
        .flatMap((isShown, index) => (isShown ? [{ row: offset + index }] : []));
      const page = {
        items,
        ...(states !== 'nothing' && { total: rows.length }),
        ...(states === 'total_and_limit' && { limit }),
      };
      const body = Buffer.from(JSON.stringify(page));
      const rest = { receivedBytes: body.length, url: String(address), redirects: [], elapsedMs: 0, isCut: false };
      return { status: 200, headers: new Headers(), body, ...rest } satisfies FetchResponse;
    },
  };
  const pages: FeedPage[] = [];
  const address = 'https://feed.example/discovery/resources';
  for await (const page of pullFeed({ address, client, pageSize: requested, maxPages: 5000 })) pages.push(page);
  const seen = new Set(pages.flatMap(({ items }) => items.map((item) => JSON.stringify(item))));
  return { seen: seen.size, pages: pages.length, end: pages.at(-1)?.end };
}

const size = fc.integer({ min: 1, max: 60 });

it('every shown row of a filtered feed is seen, and the end is the stated total', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 400 }), size, size, async (rows, requested, cap) => {
      const { seen, pages, end } = await pullAll({ rows, requested, cap, states: 'total_and_limit' });
      expect(seen).toBe(rows.filter(Boolean).length);
      expect(end).toEqual({ complete: true });
      expect(pages).toBeLessThanOrEqual(rows.length + 5);
    }),
  );
});

it('every row of an unfiltered feed is seen, however silently its pages are capped', async () => {
  const states = fc.constantFrom<Feed['states']>('total', 'nothing');
  await fc.assert(
    fc.asyncProperty(fc.nat(400), size, size, states, async (length, requested, cap, said) => {
      const rows = Array.from({ length }, () => true);
      const { seen, end } = await pullAll({ rows, requested, cap, states: said });
      expect(seen).toBe(length);
      expect(end?.complete).toBe(true);
    }),
  );
});

it('a correctly paged feed needs few more requests than it has pages', async () => {
  const rows = Array.from({ length: 15_000 }, () => true);
  const { pages } = await pullAll({ rows, requested: 100, cap: 100, states: 'total_and_limit' });
  expect(pages).toBeLessThan(170);
});
