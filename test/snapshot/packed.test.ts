import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseItem } from '../../src/snapshot/entry.ts';
import { buildPacked, createPacking, readPacked } from '../../src/snapshot/packed.ts';
import { makeReadCatalogue } from './catalogues.ts';

const listSlugs = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ slug: `api-${String(number).padStart(4, '0')}` }));

describe('packing', () => {
  it('gives the text back, to the byte', () => {
    for (const text of ['', 'a', 'ünïcödé \u{1F4B0}', 'long '.repeat(50_000)]) {
      const packed = buildPacked(text);
      expect(readPacked(packed).toString()).toBe(text);
      expect(packed.length).toBe(Buffer.byteLength(text));
      // What is kept is what is needed, and no larger buffer behind it.
      expect(packed.deflated.buffer.byteLength).toBe(packed.deflated.length);
    }
  });

  it('costs one chunk where one listing changed, and nothing where none did', async () => {
    const { reading, record } = makeReadCatalogue(...listSlugs(500));
    let built = 0;
    const pack = createPacking(({ entries }) => {
      built += entries.length;
      return entries.map((entry) => `${entry.slug} ${parseItem(entry).tagline}\n`).join('');
    });
    const read = async () => {
      const pieces = await pack(reading.getSnapshot().chunks);
      return pieces.map((piece) => readPacked(piece).toString()).join('');
    };
    const before = await read();
    expect([built, before.split('\n').length]).toEqual([500, 501]);
    expect(await read()).toBe(before);
    expect(built).toBe(500);
    record({ slug: 'api-0250', tagline: 'Changed.' });
    expect(await read()).toBe(before.replace(/(?<=^api-0250 ).*$/m, 'Changed.'));
    expect(built).toBeLessThanOrEqual(500 + 128);
  });

  it('lets others have their turn, and builds nothing twice for two who ask at once', async () => {
    const { reading } = makeReadCatalogue(...listSlugs(500));
    let built = 0;
    const pack = createPacking(({ entries }) => {
      built += entries.length;
      const until = performance.now() + 0.2 * entries.length;
      while (performance.now() < until);
      return '.';
    });
    let [turns, done] = [0, false];
    const others = (async () => {
      while (!done) {
        await setImmediate();
        turns += 1;
      }
    })();
    const { chunks } = reading.getSnapshot();
    await Promise.all([pack(chunks), pack(chunks)]);
    done = true;
    await others;
    expect(built).toBe(500);
    // A chunk of 64 takes some 13 ms here, which is more than one turn may.
    expect(turns).toBeGreaterThanOrEqual(chunks.length - 1);
  });
});
