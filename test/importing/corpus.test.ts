import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands } from '../cli/running.ts';
import { skipWithout } from '../skipped.ts';

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus');
const FEEDS = [join(CORPUS, 'bazaar-2026-03/resources.json'), join(CORPUS, 'bazaar-2026-08/discovery.json')].filter(
  existsSync,
);

describe('a real feed', () => {
  skipWithout('corpus');

  it('of a thousand items is imported with every item accounted for, and again changes nothing', async () => {
    const { runJson } = makeCommands();
    const [feed = ''] = FEEDS;
    const { code, json } = await runJson('import', '--bazaar', feed);
    expect(code).toBe(0);
    const { received, taken, duplicates, refused } = json.items;
    expect(received).toBe(1000);
    expect(taken + duplicates + refused).toBe(received);
    expect(json.listings.added).toBeGreaterThan(140);
    const reasons = json.reasons.filter(({ severity }: { severity: string }) => severity === 'refused');
    expect(reasons.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(refused);
    const again = await runJson('import', '--bazaar', feed);
    expect(again.json).toMatchObject({
      revision: { before: json.revision.after, after: json.revision.after },
      listings: { added: 0, changed: 0, unchanged: json.listings.added, withdrawn: 0 },
    });
    const { json: checked } = await runJson('check');
    expect(checked.checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toEqual([
      'published',
      'pages',
    ]);
  });
});
