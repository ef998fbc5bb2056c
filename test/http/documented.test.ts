import type { OpenAPIV3_1 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { SITE } from '../http/serving.ts';
import { removeListing } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';

const { paths = {} } = buildFrame(SITE);

/** Lists the media types that the document gives for an answer. */
function listTypes(operation: OpenAPIV3_1.OperationObject | undefined, status: number): string[] {
  const response = operation?.responses?.[String(status)];
  return response && 'content' in response ? Object.keys(response.content ?? {}) : [];
}

describe('what the document says of', () => {
  it('a listing page is what each kind of reader gets, of a page, a tombstone and what is not there', async () => {
    const server = await serveSiteFixture();
    const [live, gone] = ['api-1', 'api-2'];
    await removeListing(
      server.fixture.catalogue,
      gone,
      { by: 'operator', reason: 'no API' },
      '2026-11-21T12:00:00.000Z',
    );
    await server.catchUp();
    const page = paths['/api/{slug}']?.get;
    for (const [slug, status] of [
      [live, 200],
      [gone, 410],
      ['nope', 404],
    ] as const) {
      const types = listTypes(page, status);
      expect(types.length).toBe(2);
      for (const type of types) {
        const answer = await ask(server, `/api/${slug}`, { headers: { Accept: type } });
        expect([type, answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([type, status, type]);
      }
    }
    const refused = await ask(server, `/api/${live}`, { method: 'DELETE' });
    expect(Object.keys(page?.responses ?? {})).toContain(String(refused.status));
  });

  it('the MCP server names each status by which it refuses a message', async () => {
    const server = await serveSiteFixture({ written: false });
    const documented = Object.keys(paths['/mcp']?.post?.responses ?? {}).map(Number);
    const refuse = async (headers: Record<string, string>, body: string) => {
      const { status } = await fetch(new URL('/mcp', server.url), { method: 'POST', headers, body });
      return status;
    };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const type = { 'Content-Type': 'application/json' };
    const both = { ...type, Accept: 'application/json, text/event-stream' };
    const statuses = [
      await refuse(both, message),
      await refuse({ ...type, Accept: 'application/json' }, message),
      await refuse({ ...both, 'Content-Type': 'text/plain' }, message),
      await refuse(both, '{'),
      await refuse(both, ' '.repeat(70_000)),
    ];
    for (const path of ['/mcp', '/discovery/mcp', '/v2/x402/discovery/mcp'])
      for (const method of ['POST', 'OPTIONS']) {
        const elsewhere = await ask(server, path, { method, headers: { ...both, Host: 'evil.example' } });
        expect([path, method, elsewhere.status]).toEqual([path, method, 403]);
      }
    expect(statuses).toEqual([200, 406, 415, 400, 413]);
    expect(documented).toEqual(expect.arrayContaining([...statuses, 403]));
  });
});
