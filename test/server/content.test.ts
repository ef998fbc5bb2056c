import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { compressContent, createContentStore } from '../../src/server/content.ts';

const makeBody = (name: string) => Buffer.from(`<p>${name}</p>`.repeat(500));

it('keeps bodies and their compressed forms up to a number of bytes each, those asked for of late', async () => {
  const store = createContentStore({ bodies: 2 * makeBody('a').length, forms: 400 });
  const first = store.add('a', makeBody('a'));
  const packed = await compressContent(first, 'br');
  expect(brotliDecompressSync(packed)).toEqual(first.body);
  expect(gunzipSync(await compressContent(first, 'gzip'))).toEqual(first.body);
  // What is kept is what is sent, and no larger buffer behind it.
  expect(packed.buffer.byteLength).toBe(packed.length);

  store.add('b', makeBody('b'));
  expect(store.find('a')).toBe(first);
  store.add('c', makeBody('c'));
  expect([store.find('a')?.hash, store.find('b'), store.find('c')?.hash]).toEqual(['a', undefined, 'c']);
  for (const name of ['d', 'x', 'y']) store.add(name, makeBody(name));
  expect(store.find('a')).toBeUndefined();
  // Read again, it is not compressed again.
  expect(store.add('a', makeBody('a')).forms.find('br')).toBe(packed);

  for (const name of ['e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w']) {
    await compressContent(store.add(name, makeBody(name)), 'gzip');
  }
  expect(store.add('a', makeBody('a')).forms.find('br')).toBeUndefined();
  expect(store.add('w', makeBody('w')).forms.find('gzip')).toBeDefined();
});
