import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseQuery } from '../../src/http/parameters.ts';

const query = z.strictObject({
  whole: z.boolean().optional(),
  pages: z.int().min(1).default(1),
  from: z.union([z.int(), z.string()]).optional(),
  name: z.string().optional(),
});

const parse = (search: string) => parseQuery(query, new URLSearchParams(search));

it('reads booleans and whole numbers by their schemas, whatever they are called, and leaves text as it is', () => {
  expect(parse('whole=true&pages=20&from=7&name=7')).toEqual({ whole: true, pages: 20, from: 7, name: '7' });
  expect(parse('whole=false&from=7-a')).toEqual({ whole: false, pages: 1, from: '7-a' });
});

it('refuses what is neither, and says what would be', () => {
  expect(() => parse('whole=yes')).toThrow(expect.objectContaining({ hint: 'whole takes true or false.' }));
  expect(() => parse('pages=2.5')).toThrow(expect.objectContaining({ hint: 'pages takes a whole number from 1 on.' }));
});
