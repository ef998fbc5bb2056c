import { copyFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands } from '../cli/running.ts';
import { makeDocument } from '../sources/openapi/documents.ts';
import { answerPages, makeItem, makeItems, serveFeed } from './feed-server.ts';

/** Writes one file of that name into a folder of its own, for each of the contents. */
function writeEach(folder: string, name: string, contents: readonly object[]): string[] {
  return contents.map((content, i) => {
    mkdirSync(join(folder, `place${i}`));
    const file = join(folder, `place${i}`, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  });
}

const FEEDS = [{ items: [makeItem('one.provider-of-tests.com')] }, { items: [makeItem('two.provider-of-tests.com')] }];

const DOCUMENTS = ['one', 'two'].map((name) =>
  makeDocument({ servers: [{ url: `https://${name}.provider-of-tests.com` }] }),
);

describe('sources in files of the same name', () => {
  it.each([
    ['--bazaar', 'feed.json', FEEDS],
    ['--openapi', 'openapi.json', DOCUMENTS],
  ])('do not withdraw each other: %s', async (option, name, contents) => {
    const { folder, runJson } = makeCommands();
    const [one = '', two = ''] = writeEach(folder, name, contents);
    const first = (await runJson('import', option, one)).json;
    const second = (await runJson('import', option, two)).json;
    expect(second).toMatchObject({ complete: true, listings: { added: 1, withdrawn: 0 } });
    for (const { feed } of [first, second]) expect(feed).toMatch(new RegExp(`^${name}#[0-9a-f]{8}$`));
    expect(second.feed).not.toBe(first.feed);
    expect(JSON.stringify(second)).not.toContain(folder);
  });

  it('are the same source by any path', async () => {
    const { folder, runJson } = makeCommands();
    const [file = ''] = writeEach(folder, 'feed.json', FEEDS);
    const link = join(folder, 'link.json');
    symlinkSync(file, link);
    const { feed } = (await runJson('import', '--bazaar', file)).json;
    for (const path of [
      file,
      relative(process.cwd(), file),
      join(folder, 'place0', '..', 'place0', 'feed.json'),
      link,
    ]) {
      const { json } = await runJson('import', '--bazaar', path);
      expect(json).toMatchObject({ feed, listings: { unchanged: 1 }, revision: { before: 1, after: 1 } });
    }
    expect((await runJson('status')).json.feeds).toHaveLength(1);
  });
});

describe('a source with a name of its own', () => {
  it('is the same wherever its file is, and withdraws what it no longer has', async () => {
    const { folder, runJson } = makeCommands();
    const [one = '', two = ''] = writeEach(folder, 'feed.json', FEEDS);
    await runJson('import', '--bazaar', one, '--source', 'our feed');
    renameSync(one, join(folder, 'moved.json'));
    expect(
      (await runJson('import', '--bazaar', join(folder, 'moved.json'), '--source', 'our feed')).json,
    ).toMatchObject({
      feed: 'our feed',
      listings: { unchanged: 1 },
    });
    expect((await runJson('import', '--bazaar', two, '--source', 'our feed')).json.listings).toMatchObject({
      added: 1,
      withdrawn: 1,
    });
  });

  it('may be the feed that the file was saved from', async () => {
    const items = makeItems(2);
    const { address } = await serveFeed(answerPages(() => items));
    const { folder, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    await runJson('import', '--bazaar', address);
    const saved = join(folder, 'saved.json');
    writeFileSync(saved, JSON.stringify({ items: items.slice(1) }));
    expect((await runJson('import', '--bazaar', saved, '--source', `${address}?limit=5`)).json).toMatchObject({
      feed: address,
      listings: { unchanged: 1, withdrawn: 1 },
    });
  });

  it('also works for a document', async () => {
    const { folder, runJson } = makeCommands();
    const [one = ''] = writeEach(folder, 'openapi.json', DOCUMENTS);
    await runJson('import', '--openapi', one, '--source', 'tides');
    copyFileSync(one, join(folder, 'copy.json'));
    const { json } = await runJson('import', '--openapi', join(folder, 'copy.json'), '--source', 'tides');
    expect(json).toMatchObject({ feed: 'tides', listings: { unchanged: 1 } });
  });

  it.each([
    [['a.yaml', '--source', 'x'], /--source goes with a file given to --bazaar or --openapi/],
    [['--bazaar', 'https://feed.example/r', '--source', 'x'], /--source goes with a file/],
    [['--bazaar', 'feed.json', '--source', ' '], /--source cannot be " "; it takes one line of plain text/],
    [['--bazaar', 'feed.json', '--source', '<b>x</b>'], /--source cannot be/],
    [['--bazaar', 'feed.json', '--source', 'x'.repeat(121)], /--source cannot be "x+…?"; it takes .*120/],
  ])('is wrong usage otherwise: %j', async (args, message) => {
    const { code, stderr } = await makeCommands().run(['import', ...args]);
    expect(code).toBe(2);
    expect(stderr.split('\n')[0]).toMatch(message);
  });
});
