import { describe, expect, it } from 'vitest';
import { ask, serveSiteFixture, shareServer } from './running.ts';

const getServer = shareServer();

function buildQuery(...routes: string[]): string {
  return `?${new URLSearchParams(routes.map((name) => ['routes', name]))}`;
}

describe('the page of a comparison', () => {
  it('shows routes side by side, keeps out of search engines, and offers others while there is room', async () => {
    const server = await serveSiteFixture();
    const [first, second] = ['api-1', 'api-2'].map((slug) => `${slug} GET /v1/price/:symbol`) as [string, string];
    const both = await ask(server, `/compare${buildQuery(first, second)}`);
    expect([both.status, both.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(both.text).toContain('<meta name="robots" content="noindex">');
    expect(both.text.match(/<th scope="col"/g)).toHaveLength(2);
    const one = await ask(server, `/compare${buildQuery(first)}`);
    expect(one.text).toContain('Add to the comparison');
    const none = await ask(server, `/compare${buildQuery(first, 'nobody GET /x')}`);
    expect([none.status, none.text.includes('There is no listing &quot;nobody&quot;.')]).toEqual([200, true]);
    await server.fixture.put([1], 'second');
    await server.catchUp();
    expect((await ask(server, `/compare${buildQuery(first, second)}`)).text).toContain('Title1 second');
  });

  it('answers HEAD and 304, refuses other methods, and says with status 400 what is wrong', async () => {
    const server = getServer();
    const path = `/compare${buildQuery('api-1 GET /v1/price/:symbol')}`;
    const { etag = '' } = (await ask(server, path)).headers;
    expect((await ask(server, path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await ask(server, path, { method: 'HEAD' })).status).toBe(200);
    expect((await ask(server, path, { method: 'POST' })).status).toBe(405);
    for (const [query, words] of [
      ['', 'Choose up to four routes to compare.'],
      ['?routes=x', 'The parameter routes cannot be &quot;x&quot;.'],
      [
        `${buildQuery('a GET /1', 'a GET /2', 'a GET /3', 'a GET /4', 'a GET /5')}`,
        'Choose up to four routes to compare.',
      ],
    ] as const) {
      const refused = await ask(server, `/compare${query}`);
      expect([query, refused.status, refused.text.includes(words)]).toEqual([query, 400, true]);
    }
  });
});
