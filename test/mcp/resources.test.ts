import { describe, expect, it } from 'vitest';
import { findListingPage } from '../../src/published/page-data.ts';
import { buildListingMarkdown } from '../../src/views/listing/markdown.ts';
import { removeListing } from '../written.ts';
import { CLIENTS } from './clients.ts';
import { makeMany, makeNumbered, recordAll, serveMcp } from './serving.ts';

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  it('finds the summary in the list, and listings by a template rather than ten thousand entries', async () => {
    const { url } = await serveMcp(makeMany(40));
    const client = await connect(url);
    expect(await client.listResources()).toEqual([
      expect.objectContaining({ uri: 'catalogue://summary', name: 'summary', mimeType: 'application/json' }),
    ]);
    expect(await client.listTemplates()).toEqual([
      expect.objectContaining({
        uriTemplate: 'catalogue://listing/{slug}',
        name: 'listing',
        mimeType: 'text/markdown',
      }),
    ]);
  });

  it('reads in the summary what the tool of that name answers', async () => {
    const { url } = await serveMcp(makeMany(5));
    const client = await connect(url);
    const read = await client.read('catalogue://summary');
    expect(read).toMatchObject({ uri: 'catalogue://summary', mimeType: 'application/json', _meta: { revision: 1 } });
    expect(JSON.parse(read.text)).toEqual((await client.call('catalogue_summary')).structured);
  });

  it('reads a listing as the Markdown twin of its page, and a change of it when asked anew', async () => {
    const { url, catalogue, reading } = await serveMcp(makeMany(5));
    const client = await connect(url);
    const uri = 'catalogue://listing/numbered-001';
    const read = await client.read(uri);
    expect(read).toMatchObject({ uri, mimeType: 'text/markdown', _meta: { revision: 1 } });
    const page = await findListingPage(reading, 'numbered-001');
    expect(read.text).toBe(page?.kind === 'live' ? buildListingMarkdown(page, reading.site) : 'no page');
    await recordAll(catalogue, [{ ...makeNumbered(1), tagline: 'Something else now.' }]);
    // The client of today's protocol keeps what it read as long as it was told that it may.
    expect(await (await connect(url)).read(uri)).toMatchObject({
      text: expect.stringContaining('> Something else now.'),
      _meta: { revision: 2 },
    });
  });

  it('reads the tombstone of a delisted listing', async () => {
    const { url, catalogue } = await serveMcp(makeMany(3));
    const client = await connect(url);
    await removeListing(catalogue, 'numbered-002', { by: 'operator', reason: 'It was a double.' });
    const { text } = await client.read('catalogue://listing/numbered-002');
    expect(text).toContain('# Listing numbered-002 is gone');
    expect(text).toContain('> It was a double.');
    expect(text).not.toContain('https://api-002');
  });

  it('is told that there is no such resource in the way of the protocol', async () => {
    const { url, errors } = await serveMcp(makeMany(3));
    const client = await connect(url);
    const absent = ['absent', 'NUMBERED-001', '..%2fsummary', 'numbered-001?x=1', ''].map(
      (slug) => `catalogue://listing/${slug}`,
    );
    for (const uri of [...absent, 'catalogue://listings', 'file:///etc/passwd']) {
      await expect(client.read(uri), uri).rejects.toMatchObject({ code: -32602, data: { uri } });
    }
    expect(errors).toEqual([]);
  });

  it('is refused a cursor, which none of these short lists ever gave', async () => {
    const { url } = await serveMcp(makeMany(3));
    const client = await connect(url);
    const refusals = await client.listFrom('made-up');
    expect(refusals).toHaveLength(4);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: -32602, message: expect.stringContaining('comes whole') });
    }
  });
});

describe('a failure of our own', () => {
  it('is reported, and told to who reads without its text', async () => {
    const { url, reading, errors } = await serveMcp(makeMany(1));
    const client = await CLIENTS['1.x client']?.(url);
    reading.published.close();
    await expect(client?.read('catalogue://summary')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('Something went wrong on our side. Try again in a moment.'),
    });
    expect(errors).toHaveLength(1);
  });
});
