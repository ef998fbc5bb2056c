import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildGzip } from '../../src/live/gzip.ts';
import { buildChunks, findMember, listTagged, updateChunks } from '../../src/snapshot/chunks.ts';
import { combineCrc32 } from '../../src/snapshot/crc32.ts';
import { buildPart, joinParts } from '../../src/snapshot/part.ts';

const member = fc.record({ number: fc.integer({ min: 0, max: 400 }), text: fc.string({ unit: 'grapheme' }) });
const makeTagged = ({ number, text }: { number: number; text: string }) => ({
  entry: { slug: `api-${String(number).padStart(3, '0')}` },
  tag: JSON.stringify({ text }),
});

it('chunks hold the tags of their entries, whatever was put in, replaced and taken out', () => {
  const change = fc.record({ tagged: member.map(makeTagged), isRemoved: fc.boolean() });
  fc.assert(
    fc.property(fc.array(member), fc.array(fc.array(change)), (first, rounds) => {
      const expected = new Map(first.map(makeTagged).map((tagged) => [tagged.entry.slug, tagged]));
      const list = () => [...expected.values()].sort((a, b) => (a.entry.slug < b.entry.slug ? -1 : 1));
      let chunks = buildChunks(list());
      for (const round of rounds) {
        const changes = new Map(
          round.map(({ tagged, isRemoved }) => [tagged.entry.slug, isRemoved ? null : tagged] as const),
        );
        for (const [slug, tagged] of changes) {
          if (tagged) expected.set(slug, tagged);
          else expected.delete(slug);
        }
        chunks = updateChunks(chunks, changes);
        expect(chunks.flatMap(listTagged)).toEqual(list());
        for (const { entry } of list()) expect(findMember(chunks, entry.slug)).toEqual(entry);
        expect(findMember(chunks, 'api-1')).toBeUndefined();
      }
      const text = chunks.map(({ tags }) => Buffer.concat([...tags.pieces]).toString()).join(',');
      expect(text).toBe(
        list()
          .map(({ tag }) => tag)
          .join(','),
      );
    }),
  );
});

it('joined parts have the check sum and the compressed form of their bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', size: 'large' })), fc.string(), (texts, head) => {
      const part = joinParts(texts.map(buildPart));
      const whole = Buffer.from(texts.join(''));
      expect([part.crc, part.length]).toEqual([crc32(whole), whole.length]);
      expect(Buffer.concat([...part.pieces])).toEqual(whole);
      expect(gunzipSync(Buffer.concat(buildGzip(Buffer.from(head), part))).toString()).toBe(head + texts.join(''));
    }),
  );
});

it('check sums are carried over lengths that no text of a test has', () => {
  const zeros = Buffer.alloc(1 << 20);
  let [sum, length] = [crc32('start'), 0];
  for (let count = 0; count < 40; count += 1) {
    sum = crc32(zeros, sum);
    length += zeros.length;
  }
  let joined = crc32('start');
  for (let count = 0; count < 40; count += 1) joined = combineCrc32(joined, crc32(zeros), zeros.length);
  expect(joined).toBe(sum);
  expect(combineCrc32(crc32('start'), crc32(Buffer.alloc(length)), length)).toBe(sum);
});
