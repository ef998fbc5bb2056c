import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { readConfig } from '../../src/config.ts';
import { ServiceError } from '../../src/errors.ts';
import { importFeed } from '../../src/importing/feed.ts';
import type { FeedFormat } from '../../src/sources/feed.ts';
import { makeCatalogue, makeDeclaration, NOW } from '../builders.ts';

interface Api {
  id: string;
  address: string;
}

/** The format of a register whose pages are numbered, and end with one that is not full. */
const NUMBERED: FeedFormat = {
  kind: 'manifest',
  async *pull({ address, client, signal }) {
    for (let page = 0; ; page++) {
      const response = await client?.fetch(new URL(`${address}?page=${page}`), { signal });
      if (response?.status !== 200) throw new ServiceError('unavailable', 'The register is closed.');
      const items: Api[] = JSON.parse(Buffer.from(response.body).toString());
      const end = items.length < 2 ? { complete: true } : null;
      yield { items, total: null, end };
      if (end) return;
    }
  },
  getItemKey: (raw) => (raw as Api).id,
  buildDeclarations: (items, { feed }) => ({
    declarations: (items as Api[]).map(({ id, address }) =>
      makeDeclaration({
        source: { kind: 'manifest', name: feed, observed_at: null },
        base_url: address,
        slug: null,
        title: `API ${id}`,
      }),
    ),
    findings: [],
    outcomes: (items as Api[]).map(({ id, address }) => ({ name: id, outcome: 'taken', base_url: address })),
  }),
};

async function serveRegister(getPage: (page: number) => readonly Api[] | undefined) {
  const asked: number[] = [];
  const server = createServer((request, response) => {
    const number = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('page'));
    asked.push(number);
    const page = getPage(number);
    response.statusCode = page ? 200 : 403;
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server on a port has one');
  return { address: `http://127.0.0.1:${address.port}/apis`, asked };
}

describe('a feed of another format', () => {
  it('is pulled, begun again and withdrawn from as its format says', async () => {
    let apis = Array.from({ length: 5 }, (_, id) => ({
      id: `a${id}`,
      address: `https://host${id}.provider-of-tests.com`,
    }));
    let isClosed = true;
    const { address, asked } = await serveRegister((page) =>
      isClosed && page > 0 ? undefined : apis.slice(page * 2, page * 2 + 2),
    );
    const catalogue = await makeCatalogue();
    const run = () =>
      importFeed(catalogue, address, {
        format: NUMBERED,
        config: readConfig({ ALLOW_PRIVATE_NETWORKS: 'on' }),
        now: () => new Date(NOW),
        signal: new AbortController().signal,
        openProgress: () => ({ update: () => undefined, stop: () => undefined }),
      });
    await expect(run()).rejects.toThrow('The register is closed.');
    isClosed = false;
    expect(await run()).toMatchObject({
      feed: address,
      complete: true,
      items: { received: 5, taken: 5 },
      listings: { added: 5 },
    });
    expect(asked).toEqual([0, 1, 0, 1, 2]);
    apis = apis.slice(2);
    expect(await run()).toMatchObject({ complete: true, listings: { unchanged: 3, withdrawn: 2 } });
    const listings = await listListings(catalogue);
    expect(listings.map(({ title, sources }) => [title, sources[0]?.kind]).sort()).toEqual(
      ['API a0', 'API a1', 'API a2', 'API a3', 'API a4'].map((title) => [title, 'manifest']),
    );
  });
});
