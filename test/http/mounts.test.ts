import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { NOW } from '../builders.ts';
import { makeReadCatalogue } from '../published/catalogues.ts';
import { openTestReading } from '../reading.ts';
import { ask } from './running.ts';
import { SITE } from './serving.ts';

type Listener = Parameters<typeof createServer>[1];

async function listen(answer: Listener): Promise<{ url: string }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('the endpoints of Astro answer as the server does: the app is the same', async () => {
  const { catalogue } = await makeReadCatalogue({ slug: 'one' }, { slug: 'two' });
  const reading = await openTestReading(catalogue, { now: () => new Date(NOW) });
  onTestFinished(() => reading.close());
  const { entry } = await openPageCode({ onEvent: () => undefined });
  const { handler } = await import(pathToFileURL(entry).href);
  const [own, astro] = [
    await listen(getRequestListener(createApp({ reading }).fetch)),
    await listen((request, response) => handler(request, response, () => response.writeHead(404).end(), { reading })),
  ];
  const documented = Object.keys(buildFrame(SITE).paths ?? {}).filter(
    (path) => !path.startsWith('/api/') && path !== '/llms.txt' && path !== '/search',
  );
  const paths = documented.map((path) =>
    path.replace('{slug}', 'one').replace('{part}', '1').replace('{id}', 'none').replace('{identifier}', 'urn:air:x:y'),
  );
  const asked = [
    ...paths.flatMap((path) => [{ path }, { path, method: 'HEAD' }, { path, method: 'DELETE' }]),
    ...paths.map((path) => ({ path: `${path}?nope=1` })),
    { path: '/agent/list?q=prices&limit=1' },
    { path: '/search', method: 'POST', headers: { 'Content-Type': 'application/json' } },
    { path: '/explore', method: 'POST' },
    { path: '/agent/listings/none' },
    { path: '/agent/none' },
    { path: '/agent/list', headers: { 'Accept-Encoding': 'br' } },
    { path: '/openapi.json', headers: { 'Accept-Encoding': 'gzip' } },
    { path: '/agent/list', headers: { 'If-None-Match': '*' } },
    { path: '/agent/list', method: 'OPTIONS', headers: { Origin: 'https://other.example' } },
  ];
  for (const { path, ...options } of asked) {
    const read = async (server: { url: string }) => {
      const { status, headers, text } = await ask(server, path, options);
      const {
        date,
        connection,
        'keep-alive': alive,
        'x-request-id': id,
        'transfer-encoding': coding,
        ...rest
      } = headers;
      // The adapter streams, and leaves the length to Node.
      delete rest['content-length'];
      return { path, ...options, status, headers: rest, text };
    };
    expect(await read(astro)).toEqual(await read(own));
  }
  expect(asked.length).toBeGreaterThan(70);
});

it('has no route for which the router would try all others one by one', async () => {
  const { catalogue } = await makeReadCatalogue({ slug: 'one' });
  const reading = await openTestReading(catalogue, { now: () => new Date(NOW) });
  onTestFinished(() => reading.close());
  const app = createApp({ reading });
  await app.request('/agent/listings/one');
  expect(app.router.name).toContain('RegExpRouter');
});
