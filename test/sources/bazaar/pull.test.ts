import { execFileSync } from 'node:child_process';
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getFeedItemKey } from '../../../src/sources/bazaar/item.ts';
import { type PullOptions, pullFeed } from '../../../src/sources/bazaar/pull.ts';
import type { FeedPage } from '../../../src/sources/feed.ts';
import { listAll } from '../list-all.ts';
import { type FeedServer, makeRow, makeRows, serveFeed } from './feed-server.ts';

const QUICK = { firstWaitMs: 1 };

async function pull({ address, client }: FeedServer, options: Partial<PullOptions> = {}): Promise<FeedPage[]> {
  return await listAll(pullFeed({ address, client, pageSize: 20, pullLimits: QUICK, ...options }));
}

/** How many different rows came, and how the pull ended. */
function sum(pages: FeedPage[]) {
  const keys = new Set(pages.flatMap(({ items }) => items.map(getFeedItemKey)));
  expect(pages.slice(0, -1).every(({ end }) => end === null)).toBe(true);
  return { rows: keys.size, end: pages.at(-1)?.end };
}

const COMPLETE = { complete: true };

describe('a pull gets every row of a feed', () => {
  const rows = makeRows(205);

  it.each([100, 205, 20, 500])('that pages as it should, at %i a page', async (pageSize) => {
    const feed = await serveFeed(({ limit, offset }) => ({
      items: rows.slice(offset, offset + limit),
      pagination: { limit, offset, total: rows.length },
    }));
    expect(sum(await pull(feed, { pageSize }))).toEqual({ rows: 205, end: COMPLETE });
    expect(feed.requests.length).toBeLessThanOrEqual(Math.ceil(205 / pageSize) * 1.4 + 2);
  });

  it('in the other shape', async () => {
    const feed = await serveFeed(({ limit, offset }) => ({
      resources: rows.slice(offset, offset + limit),
      total: 205,
      limit,
      offset,
    }));
    expect(sum(await pull(feed))).toEqual({ rows: 205, end: COMPLETE });
  });

  it('whose pages are short in the middle, even empty, because rows are filtered after counting', async () => {
    const shown = rows.filter((_, index) => index % 3 !== 0 && (index < 60 || index > 125));
    const feed = await serveFeed(({ limit, offset }) => ({
      items: rows.slice(offset, offset + limit).filter((row) => shown.includes(row)),
      pagination: { limit, offset, total: rows.length },
    }));
    expect(sum(await pull(feed))).toEqual({ rows: shown.length, end: COMPLETE });
  });

  it('whose first page is nearly empty', async () => {
    const shown = [rows[3], ...rows.slice(90)];
    const feed = await serveFeed(({ limit, offset }) => ({
      items: rows.slice(offset, offset + limit).filter((row) => shown.includes(row)),
      ...{ total: rows.length, limit },
    }));
    expect(sum(await pull(feed))).toEqual({ rows: shown.length, end: COMPLETE });
    const silent = await serveFeed(({ limit, offset }) => ({
      items: rows.slice(offset, offset + limit).filter((row) => shown.includes(row)),
      total: rows.length,
    }));
    expect(sum(await pull(silent))).toEqual({ rows: shown.length, end: COMPLETE });
  });

  it('that caps the page size, saying so or not', async () => {
    for (const limit of [undefined, 7, 20]) {
      const feed = await serveFeed(({ offset }) => ({
        items: rows.slice(offset, offset + 7),
        total: rows.length,
        limit,
      }));
      expect(sum(await pull(feed))).toEqual({ rows: 205, end: COMPLETE });
    }
  });

  it('without a total, that ends in empty pages or an error', async () => {
    const empty = await serveFeed(({ limit, offset }) => ({ items: rows.slice(offset, offset + limit) }));
    expect(sum(await pull(empty))).toEqual({ rows: 205, end: COMPLETE });
    const failing = await serveFeed(({ limit, offset }, response) => {
      if (offset >= 205) response.writeHead(404);
      return rows.slice(offset, offset + limit);
    });
    expect(sum(await pull(failing))).toEqual({ rows: 205, end: COMPLETE });
  });

  it('that takes the length of each page for the total', async () => {
    const feed = await serveFeed(({ limit, offset }) => {
      const items = rows.slice(offset, offset + limit);
      return { items, total: items.length };
    });
    expect(sum(await pull(feed)).rows).toBe(205);
  });

  it('that loses rows at its start during the pull, so that others move up', async () => {
    const feed = await serveFeed(({ limit, offset, count }) => {
      const left = rows.slice(count);
      return { items: left.slice(offset, offset + limit), total: left.length };
    });
    const pages = await pull(feed);
    expect(sum(pages).rows).toBe(205);
  });

  it('that gains rows at its start, so that others come again', async () => {
    const feed = await serveFeed(({ limit, offset, count }) => {
      const more = [...makeRows(count * 2, 1000), ...rows];
      return { items: more.slice(offset, offset + limit), total: more.length };
    });
    const pages = await pull(feed);
    const keys = new Set(pages.flatMap(({ items }) => items.map(getFeedItemKey)));
    expect(rows.every((row) => keys.has(getFeedItemKey(row)))).toBe(true);
  });

  it('in one answer, whatever the offset', async () => {
    const bare = await serveFeed(() => rows);
    expect(sum(await pull(bare))).toEqual({ rows: 205, end: COMPLETE });
    expect(bare.requests).toHaveLength(2);
  });

  it('that is empty', async () => {
    const feed = await serveFeed(({ limit, offset }) => ({ resources: [], total: 0, limit, offset }));
    expect(await pull(feed)).toMatchObject([{ items: [], total: 0, end: COMPLETE }]);
  });
});

describe('a pull ends', () => {
  it('if the server always sends its first page, and is incomplete', async () => {
    const feed = await serveFeed(({ limit }) => ({ items: makeRows(20), total: 5000, limit }));
    expect(sum(await pull(feed))).toEqual({ rows: 20, end: { complete: false } });
    expect(feed.requests.length).toBeLessThanOrEqual(3);
  });

  it('if an endless total brings nothing new', async () => {
    const feed = await serveFeed(({ offset }) => ({ items: offset === 0 ? makeRows(20) : [], total: 1e12 }));
    expect(sum(await pull(feed)).end).toEqual({ complete: false });
    expect(feed.requests.length).toBeLessThan(60);
  });

  it('after the most pages allowed', async () => {
    const feed = await serveFeed(({ limit, offset }) => ({ items: makeRows(limit, offset), total: 1e12 }));
    const pages = await pull(feed, { maxPages: 3 });
    expect(sum(pages).end).toEqual({ complete: false });
    expect(feed.requests.map(({ offset }) => offset)).toEqual([0, 15, 30]);
  });

  it('at once when it is stopped', async () => {
    const stopping = new AbortController();
    const feed = await serveFeed(({ count }, response) => {
      response.writeHead(503, { 'retry-after': '30' });
      if (count === 0) setTimeout(() => stopping.abort(), 20);
      return {};
    });
    await expect(pull(feed, { signal: stopping.signal })).rejects.toMatchObject({ reason: 'aborted' });
  });
});

describe('a pull', () => {
  it('that fails says at which offset', async () => {
    const feed = await serveFeed(({ limit, offset }, response) => {
      if (offset > 40) response.writeHead(500);
      return { items: makeRows(limit, offset), total: 100 };
    });
    await expect(pull(feed)).rejects.toMatchObject({
      ...{ code: 'unavailable', reason: 'bad_status' },
      details: { status: 500, offset: 45 },
    });
  });

  it('keeps the rest of the feed’s query and asks for its own page', async () => {
    const feed = await serveFeed(() => ({ items: [makeRow(1)], total: 1 }));
    await pull({ ...feed, address: `${feed.address}?type=http&limit=5&offset=3` });
    expect(feed.requests[0]?.url.search).toBe('?type=http&limit=20&offset=0');
  });
});

describe('a temporary failure', () => {
  it('is overcome: 429, 5xx, a broken connection', async () => {
    const troubles = [429, 503, 0, 502, 0];
    const feed = await serveFeed(({ count }, response) => {
      const trouble = troubles[count];
      if (trouble === 0) response.destroy();
      else if (trouble) response.writeHead(trouble);
      return trouble === 0 ? undefined : { items: [makeRow(1)], total: 1 };
    });
    expect(sum(await pull(feed, { pullLimits: { ...QUICK, attempts: 6 } })).rows).toBe(1);
    expect(feed.requests).toHaveLength(6);
  });

  it('waits as long as the server asks, within bounds', async () => {
    const feed = await serveFeed(({ count }, response) => {
      if (count === 0) response.writeHead(429, { 'retry-after': '1' });
      return { items: [makeRow(1)], total: 1 };
    });
    const began = performance.now();
    await pull(feed);
    expect(performance.now() - began).toBeGreaterThan(990);
    const greedy = await serveFeed((_, response) => {
      response.writeHead(429, { 'retry-after': '86400' });
      return {};
    });
    await expect(pull(greedy)).rejects.toMatchObject({ reason: 'bad_status', details: { status: 429, offset: 0 } });
    expect(greedy.requests).toHaveLength(1);
  });

  it.each(['1.5', '-5', '2026-11-29T23:00:00Z', '9'.repeat(16)])('does not obey a Retry-After of %s', async (wait) => {
    const feed = await serveFeed(({ count }, response) => {
      if (count === 0) response.writeHead(429, { 'retry-after': wait });
      return { items: [makeRow(1)], total: 1 };
    });
    expect(sum(await pull(feed, { pullLimits: QUICK })).rows).toBe(1);
    expect(feed.requests).toHaveLength(2);
  });

  it('that lasts is given up after a few attempts; a permanent one at once', async () => {
    const failing = await serveFeed((_, response) => response.writeHead(500).end());
    await expect(pull(failing)).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'bad_status',
      details: { status: 500 },
    });
    expect(failing.requests).toHaveLength(4);
    const forbidden = await serveFeed((_, response) => response.writeHead(403).end());
    await expect(pull(forbidden)).rejects.toMatchObject({ reason: 'bad_status', details: { status: 403 } });
    expect(forbidden.requests).toHaveLength(1);
  });
});

describe('something that is not a page is refused in one sentence', () => {
  it('that names the feed and the page, and no secret of its address', async () => {
    const feed = await serveFeed((_, response) => response.end('<html>'));
    const address = `${feed.address}?api_key=hidden`;
    const error = await pull({ ...feed, address }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      ...{ code: 'bad_input', reason: 'bad_json', details: { offset: 0 } },
      message: `The page at offset 0 of the feed ${feed.address} is HTML instead of JSON.`,
    });
    const other = await serveFeed(() => ({ hello: 'world' }));
    await expect(pull(other)).rejects.toMatchObject({
      reason: 'not_a_feed',
      hint: expect.stringContaining('/discovery/resources'),
    });
  });

  it('when it is larger than is read', async () => {
    const feed = await serveFeed(() => ({ items: makeRows(1000) }));
    await expect(pull(feed, { pullLimits: { ...QUICK, pageBytes: 10_000 } })).rejects.toMatchObject({
      ...{ code: 'refused', reason: 'too_large' },
      message: `The page at offset 0 of the feed ${feed.address} is larger than 10000 bytes, which is too large.`,
    });
    expect(feed.requests).toHaveLength(1);
  });

  it('and an address that may not be fetched is not', async () => {
    const feed = await serveFeed(() => []);
    await expect(pull({ ...feed, address: 'http://169.254.169.254/discovery/resources' })).rejects.toMatchObject({
      reason: 'blocked_address',
    });
  });
});

describe('a file', () => {
  function makeFile(content: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'feed-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'bazaar.json');
    writeFileSync(file, content);
    return file;
  }

  it('is one page, complete unless it says that there is more', async () => {
    const whole = await listAll(
      pullFeed({ address: makeFile(JSON.stringify({ items: makeRows(3), pagination: { total: 3 } })) }),
    );
    expect(whole).toMatchObject([{ total: 3, end: COMPLETE }]);
    const part = await listAll(
      pullFeed({ address: makeFile(JSON.stringify({ items: makeRows(3), pagination: { total: 9 } })) }),
    );
    expect(part[0]?.end).toEqual({ complete: false });
  });

  it('that is a pipe or a device is refused, and never waited for', async () => {
    const pipe = join(dirname(makeFile('[]')), 'pipe.json');
    execFileSync('mkfifo', [pipe]);
    for (const address of [pipe, '/dev/zero', dirname(pipe)]) {
      await expect(listAll(pullFeed({ address }))).rejects.toMatchObject({
        reason: 'not_a_file',
        message: `The file ${basename(address)} is a folder, a pipe or a device.`,
      });
    }
  });

  it('that does not exist is named without its path', async () => {
    const none = listAll(pullFeed({ address: '/nowhere/at/all/bazaar.json' }));
    await expect(none).rejects.toMatchObject({
      reason: 'unreadable_file',
      message: 'The file bazaar.json cannot be read.',
    });
    await expect(listAll(pullFeed({ address: makeFile('nope') }))).rejects.toMatchObject({
      message: 'The file bazaar.json is not JSON.',
    });
  });

  it.each([
    ['100 MB', 100 * 1024 * 1024 + 1],
    // More than can be read at all.
    ['3 GB', 3 * 1024 ** 3],
  ])('of more than %s is refused before it is read', async (_, bytes) => {
    const file = makeFile('[');
    truncateSync(file, bytes);
    await expect(listAll(pullFeed({ address: file }))).rejects.toMatchObject({
      ...{ code: 'refused', reason: 'too_large' },
      message: 'The file bazaar.json is larger than 100 MB, which is too large.',
    });
  });
});
