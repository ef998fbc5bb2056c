import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildChunks, findMember, listTagged, updateChunks } from '../../src/snapshot/chunks.ts';

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
      const text = chunks.map(({ tags }) => tags.toString()).join(',');
      expect(text).toBe(
        list()
          .map(({ tag }) => tag)
          .join(','),
      );
    }),
  );
});
