import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { recordPaid } from '../paid.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { removeListing } from '../written.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';

const [FIRST, SECOND, LOST] = [1, 2, 3].map((at) => `5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b0${at}`) as [
  string,
  string,
  string,
];

type SiteFixture = TestServer['fixture'];

async function pay({ catalogue }: SiteFixture, slug: string, paid: { id: string; status?: number; at?: string }) {
  const path = (await findListing(catalogue, { slug }))?.routes[0]?.path ?? '';
  await recordPaid(catalogue, slug, { path, ...paid });
}

const listWritten = ({ readPages }: SiteFixture) =>
  [...readPages().keys()].filter((path) => path.startsWith('/receipts/'));

const has = async (server: TestServer, path: string, text: string) => (await ask(server, path)).text.includes(text);

describe('the page of a receipt', () => {
  it('is there as soon as the payment settled, and after the next rebuild from its file', async () => {
    const server = await serveSiteFixture();
    const { fixture } = server;
    expect((await ask(server, `/receipts/${FIRST}`)).status).toBe(404);
    await pay(fixture, 'api-1', { id: FIRST });
    await server.catchUp();
    const fresh = await ask(server, `/receipts/${FIRST}`);
    expect([fresh.status, fresh.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(fresh.text).toContain(`<link rel="canonical" href="http://catalogue.example/receipts/${FIRST}"`);
    expect(fresh.text).toContain(`receipts check http://catalogue.example/agent/receipts/${FIRST} --rpc`);
    await rebuildAgain(fixture);
    expect(listWritten(fixture)).toEqual([`/receipts/${FIRST}`]);
    await expect.poll(() => has(server, '/api/api-1', `href="/receipts/${FIRST}"`)).toBe(true);
    await expect.poll(async () => (await ask(server, `/receipts/${FIRST}`)).text).toBe(fresh.text);
    expect((await ask(server, '/sitemap-1.xml')).text).toContain(
      `<loc>http://catalogue.example/receipts/${FIRST}</loc>`,
    );
  });

  it('says plainly of a call that was not delivered that it was not', async () => {
    const server = await serveSiteFixture();
    await pay(server.fixture, 'api-1', { id: LOST, status: 500 });
    await server.catchUp();
    const { status, text } = await ask(server, `/receipts/${LOST}`);
    expect([status, text]).toEqual([200, expect.stringContaining('Not delivered: the answer was status 500')]);
    expect(text).not.toContain('<b>Delivered</b>');
    await rebuildAgain(server.fixture);
    expect(listWritten(server.fixture)).toEqual([`/receipts/${LOST}`]);
    await expect.poll(() => has(server, '/api/api-1', `href="/receipts/${LOST}"`)).toBe(true);
  });

  it('stays where it is when a later receipt takes its place, and when the listing is delisted', async () => {
    const server = await serveSiteFixture();
    const { fixture } = server;
    await pay(fixture, 'api-1', { id: FIRST });
    await server.catchUp();
    await pay(fixture, 'api-1', { id: SECOND, at: '2026-11-22T12:00:00.000Z' });
    await server.catchUp();
    await rebuildAgain(fixture);
    expect(listWritten(fixture)).toEqual([`/receipts/${SECOND}`]);
    for (const id of [FIRST, SECOND]) expect((await ask(server, `/receipts/${id}`)).status).toBe(200);
    await removeListing(fixture.catalogue, 'api-1', { by: 'operator', reason: 'asked' }, '2026-11-23T12:00:00.000Z');
    await server.catchUp();
    await rebuildAgain(fixture);
    expect(listWritten(fixture)).toEqual([]);
    await expect
      .poll(async () => (await ask(server, `/receipts/${SECOND}`)).text)
      .toContain('The listing is no longer in the catalogue.');
    expect((await ask(server, `/receipts/${SECOND}`)).status).toBe(200);
    expect((await ask(server, '/sitemap-1.xml')).text).not.toContain('/receipts/');
  });

  it('is not there under any other address, and none of them is an error', async () => {
    const server = await serveSiteFixture();
    await pay(server.fixture, 'api-1', { id: FIRST });
    await server.catchUp();
    for (const id of [
      SECOND,
      FIRST.toUpperCase(),
      FIRST.replaceAll('-', ''),
      `${FIRST}.html`,
      `${FIRST}.md`,
      'x',
      '%22',
      '..%2f',
    ]) {
      const { status } = await ask(server, `/receipts/${id}`);
      expect([id, [200, 308, 404].includes(status) && status !== 200]).toEqual([id, true]);
    }
    const slashed = await ask(server, `/receipts/${FIRST}/`);
    expect([slashed.status, slashed.headers.location]).toEqual([308, `/receipts/${FIRST}`]);
    expect((await ask(server, '/receipts')).status).toBe(404);
    expect((await ask(server, '/receipts/')).status).toBe(404);
  });
});
