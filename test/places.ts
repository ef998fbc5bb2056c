import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** A place where a counterpart's bytes enter: each test of it by file and title; `here`: in rows of the file that lists it. */
export type Places = Record<string, 'here' | Record<string, string>>;

/** Tests that each place has the tests that are named for it, and that each place with rows here is on the list. */
export function testPlaces(places: Places, rows: readonly string[]): void {
  const elsewhere = Object.entries(places).flatMap(([place, tests]) =>
    tests === 'here' ? [] : Object.entries(tests).map(([file, title]) => [place, file, title] as const),
  );
  describe('a place where others’ bytes enter', () => {
    it.each(elsewhere)('%s: %s', (_place, file, title) => {
      expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toContain(title);
    });

    it('is on the list where it has rows here, and has rows where the list says so', () => {
      const here = Object.keys(places).filter((place) => places[place] === 'here');
      expect(here.toSorted()).toEqual([...rows].toSorted());
    });
  });
}
