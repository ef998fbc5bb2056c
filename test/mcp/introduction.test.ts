import { describe, expect, it } from 'vitest';
import { getMcpIdentity } from '../../src/views/mcp-server.ts';
import { CLIENTS } from './clients.ts';
import { ask, makeMany, serveMcp } from './serving.ts';

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  it('is shown the identity that is declared once, and no picture', async () => {
    const { url, reading } = await serveMcp(makeMany(1));
    const { server } = await connect(url);
    expect(server).toMatchObject(getMcpIdentity(reading.site));
    expect(server?.description?.length).toBeLessThanOrEqual(100);
    expect(server).not.toHaveProperty('icons');
  });
});

describe("today's protocol", () => {
  const HOUR = { ttlMs: 3_600_000, cacheScope: 'public' };
  const MINUTE = { ttlMs: 60_000, cacheScope: 'public' };

  it('says of each list and each read how long it may be kept, by everybody', async () => {
    const { url } = await serveMcp(makeMany(1));
    for (const [method, hint, params] of [
      ['server/discover', HOUR, {}],
      ['tools/list', HOUR, {}],
      ['resources/list', HOUR, {}],
      ['resources/templates/list', HOUR, {}],
      ['prompts/list', HOUR, {}],
      ['resources/read', MINUTE, { uri: 'catalogue://summary' }],
      ['resources/read', MINUTE, { uri: 'catalogue://listing/numbered-000' }],
    ] as const) {
      expect((await ask(url, method, params)).result, method).toMatchObject(hint);
    }
  });

  it('names the server with every answer, and says more of it only to who asks who it is', async () => {
    const { url } = await serveMcp(makeMany(1));
    const key = 'io.modelcontextprotocol/serverInfo';
    const discovered = JSON.stringify(await ask(url, 'server/discover'));
    expect([discovered.includes('websiteUrl'), discovered.includes('data:image')]).toEqual([true, false]);
    expect((await ask(url, 'tools/list')).result._meta[key]).toEqual({
      name: 'agent-payable-apis',
      title: 'Agent-Payable APIs',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });

  it('ends at once the waiting for changes of lists that never change', async () => {
    const { url } = await serveMcp(makeMany(1));
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    expect((await ask(url, 'subscriptions/listen', { notifications })).result).toMatchObject({
      resultType: 'complete',
    });
  });
});
