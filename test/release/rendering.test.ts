import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/published/reading.ts';
import { getPublishedState } from '../../src/published/state.ts';
import { loadPageCode, type RenderJob, type RenderPage, renderPages } from '../../src/release/rendering.ts';
import { startRenderThreads } from '../../src/release/thread-pool.ts';
import { makeFolder } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { makeReleaseFixture } from './release-fixture.ts';

/** Compiled pages of a handful of lines, in place of those that the compiler makes. */
const ENTRY = `export async function handler(request, response, next, locals) {
  const { url, method, headers } = request;
  if (url === '/none') return next();
  if (url === '/half') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<html>');
    response.write('Internal server error', () => response.destroy(new Error('broke off')));
    return;
  }
  response.writeHead(url === '/404' ? 404 : 200, { 'content-type': 'text/plain' });
  response.write(new TextEncoder().encode(method + ' '));
  response.end(url + ' ' + headers.host + ' ' + locals.reading.getSnapshot().revision);
}`;

function makeCode(source = ENTRY) {
  const folder = makeFolder();
  writeFileSync(join(folder, 'entry.mjs'), source);
  return { version: 'test', folder, entry: join(folder, 'entry.mjs'), clientDir: folder };
}

async function makeReading(): Promise<Reading> {
  const { config } = await makeReleaseFixture(makeFolder(), { count: 1 });
  return await openTestReading({ address: config.catalogueAddress }, { site: config });
}

function makeJob(paths: string[], earlier: RenderJob['earlier'] = new Map()): RenderJob {
  const pages = paths.map((path) => ({ path, file: path.slice(1), key: 'key' }));
  return { folder: makeFolder(), pages, earlier, next: new SharedArrayBuffer(4) };
}

describe('rendering without a socket', () => {
  it('gives what the handler writes, piece by piece', async () => {
    const render = await loadPageCode(makeCode());
    const page = await render('/x?y', await makeReading());
    expect(page).toEqual({ status: 200, type: 'text/plain', body: Buffer.from('GET /x?y localhost 1') });
    expect(await render('/none', await makeReading())).toBeUndefined();
  });

  it('does not take a page for whole that broke off', async () => {
    const render = await loadPageCode(makeCode());
    expect(await render('/half', await makeReading())).toMatchObject({ status: 500 });
  });

  it('says which compiled pages are none', async () => {
    await expect(loadPageCode(makeCode('export const nothing = 1;'))).rejects.toMatchObject({ reason: 'no_handler' });
  });
});

describe('rendering into a folder', () => {
  it('is over in this thread, too, once it failed in another', async (context) => {
    context.skip(availableParallelism() < 2, 'one processor: use a machine with two');
    const reading = await makeReading();
    const { config } = await makeReleaseFixture(makeFolder(), { count: 0 });
    // Each few pages have a folder of their own, which is made when the first is written.
    const job = makeJob(Array.from({ length: 5000 }, (_, at) => `/api/${(at + 1296).toString(36)}`));
    const missing = { ...config, publishedFile: join(makeFolder(), 'missing.sqlite') };
    const state = getPublishedState(reading.published);
    const threads = startRenderThreads({ config: missing, code: makeCode(), state, job }, job.pages?.length ?? 0);
    let asked = 0;
    const render: RenderPage = async () => {
      asked += 1;
      await sleep(20);
      return { status: 200, type: 'text/plain', body: Buffer.from('page') };
    };
    const rendering = threads.render({ render, reading, onEvent: () => undefined });
    await expect(rendering).rejects.toMatchObject({ reason: 'not_published' });
    await threads.close();
    const before = asked;
    rmSync(job.folder, { recursive: true });
    await sleep(100);
    expect([asked, existsSync(job.folder)]).toEqual([before, false]);
    expect(asked).toBeLessThan(5000);
  });

  it('writes each page once, and links one that came out as before', async () => {
    const render = await loadPageCode(makeCode());
    const reading = await makeReading();
    const first = makeJob(['/a', '/b', '/404']);
    const made = await renderPages(first, { render, reading });
    expect(made.map(([path, { bytes }]) => [path, bytes]).sort()).toEqual([
      ['/404', 20],
      ['/a', 18],
      ['/b', 18],
    ]);
    const earlier = new Map(made.map(([path, page]) => [path, { page, path: join(first.folder, page.file) }]));
    const second = makeJob(['/a', '/c'], earlier);
    await renderPages(second, { render, reading });
    expect(readFileSync(join(second.folder, 'root/c'), 'utf8')).toBe('GET /c localhost 1');
    writeFileSync(join(first.folder, 'root/a'), 'shared');
    expect(readFileSync(join(second.folder, 'root/a'), 'utf8')).toBe('shared');

    const third = makeJob(['/a'], earlier);
    await renderPages(third, { render, reading });
    expect(readFileSync(join(third.folder, 'root/a'), 'utf8')).toBe('GET /a localhost 1');
  });

  it.each(['/none', '/half'])('stops at a page that fails (%s), and names it', async (failing) => {
    const compiled = await loadPageCode(makeCode());
    const rendered: string[] = [];
    const render: RenderPage = async (path, reading) => {
      rendered.push(path);
      return compiled(path, reading);
    };
    const job = makeJob([
      ...Array.from({ length: 50 }, (_, n) => `/before-${n}`),
      failing,
      ...Array.from({ length: 500 }, (_, n) => `/after-${n}`),
    ]);
    await expect(renderPages(job, { render, reading: await makeReading() })).rejects.toMatchObject({
      reason: 'page_failed',
      message: expect.stringContaining(`The page ${failing} could not be rendered`),
    });
    const written = readdirSync(job.folder).length;
    expect(rendered.length).toBeLessThan(120);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readdirSync(job.folder)).toHaveLength(written);
    expect(existsSync(join(job.folder, failing.slice(1)))).toBe(false);
  });
});
