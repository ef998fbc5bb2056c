import { expect, it } from 'vitest';
import { removeListing } from '../written.ts';
import { ask, shareServer } from './running.ts';

const getServer = shareServer();

it('a listing has a picture that is kept, changes with it, and goes with it', async () => {
  const server = getServer();
  const first = await ask(server, '/pictures/api-1.png');
  expect([first.status, first.headers['content-type'], first.body.readUInt32BE(16)]).toEqual([200, 'image/png', 1200]);
  expect(first.headers).toMatchObject({
    'cache-control': 'public, max-age=600',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  const etag = first.headers.etag ?? '';

  const known = await ask(server, '/pictures/api-1.png', { headers: { 'If-None-Match': etag } });
  expect([known.status, known.body.length]).toEqual([304, 0]);
  const head = await ask(server, '/pictures/api-1.png', { method: 'HEAD' });
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(first.body.length), 0]);
  expect((await ask(server, '/pictures/api-1.png')).body).toEqual(first.body);

  await server.fixture.put([1], 'second');
  await server.catchUp();
  const changed = await ask(server, '/pictures/api-1.png', { headers: { 'If-None-Match': etag } });
  expect(changed.status).toBe(200);
  expect(changed.headers.etag).not.toBe(etag);
  expect(changed.body).not.toEqual(first.body);

  await removeListing(server.fixture.catalogue, 'api-1', { by: 'operator', reason: 'asked_to_be_removed' });
  await server.catchUp();
  const gone = await ask(server, '/pictures/api-1.png');
  expect([gone.status, JSON.parse(gone.text)]).toMatchObject([
    410,
    { code: 'gone', hint: 'GET /agent/listings/api-1 says when and why.' },
  ]);
});

it('every other page has the service’s own picture, and nothing else has one', async () => {
  const server = getServer();
  const own = await ask(server, '/pictures/_service.png');
  expect([own.status, own.headers['content-type']]).toEqual([200, 'image/png']);
  for (const path of [
    '/pictures/nobody.png',
    '/pictures/api-1',
    '/pictures/api-1.svg',
    '/pictures/',
    '/pictures/../x.png',
    '/pictures/_service',
  ]) {
    expect([path, (await ask(server, path)).status]).toEqual([path, 404]);
  }
  expect((await ask(server, '/pictures/api-1.png', { method: 'POST' })).status).toBe(405);
});

it('a flood of different pictures is bounded, says when to come back, and holds nothing up', async () => {
  const server = getServer();
  await server.fixture.put(
    Array.from({ length: 30 }, (_, number) => 100 + number),
    'flood',
  );
  await server.catchUp();
  let painted = 0;
  const flood = Array.from({ length: 30 }, async (_, number) => {
    const answer = await ask(server, `/pictures/api-${100 + number}.png`);
    if (answer.status === 200) painted += 1;
    return answer;
  });
  const list = ask(server, '/agent/list?limit=1').then(({ status }) => ({ status, paintedBefore: painted }));
  const answers = await Promise.all(flood);
  const { status, paintedBefore } = await list;
  expect(status).toBe(200);
  // However slow the machine: it does not wait until the pictures are done.
  expect(paintedBefore).toBeLessThan(painted / 2);
  const refused = answers.filter((answer) => answer.status === 503);
  expect(refused.length).toBeGreaterThan(5);
  expect(refused[0]?.headers['retry-after']).toBe('5');
  expect(JSON.parse(refused[0]?.text ?? '')).toMatchObject({ code: 'busy' });
  const late = answers.findIndex(({ status }) => status === 503);
  expect((await ask(server, `/pictures/api-${100 + late}.png`)).status).toBe(200);
});
