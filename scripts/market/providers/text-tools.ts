import { createHash } from 'node:crypto';
import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

const text = z.string().min(1).max(10_000).describe('The text to work on');
const PRICE = 1_000;
const words = new Intl.Segmenter('en', { granularity: 'word' });

const FACTORS = { m: 1, km: 1000, cm: 0.01, mm: 0.001, in: 0.0254, ft: 0.3048, yd: 0.9144, mi: 1609.344 } as const;
const unit = z.enum(Object.keys(FACTORS) as [keyof typeof FACTORS, ...(keyof typeof FACTORS)[]]);

/** A provider of several small tools with the same price. */
export const TEXT_TOOLS: ProviderPlan = {
  key: 'text-tools',
  title: 'Small Text Tools',
  summary: 'Counts words, hashes text, makes slugs and converts lengths, each for a tenth of a cent.',
  version: 2,
  networks: ['base'],
  routes: [
    buildRoute({
      method: 'GET',
      path: '/v1/word-count',
      summary: 'Counts the words, sentences and characters of a text.',
      price: PRICE,
      input: z.object({ text }),
      output: z.object({ words: z.int(), sentences: z.int(), characters: z.int() }),
      example: { text: 'Count me. All of me.' },
      work: ({ text: given }) => ({
        words: [...words.segment(given)].filter(({ isWordLike }) => isWordLike).length,
        sentences: given.split(/[.!?]+(?:\s|$)/).filter((part) => part.trim() !== '').length,
        characters: [...given].length,
      }),
    }),
    buildRoute({
      method: 'GET',
      path: '/v1/hash',
      summary: 'Hashes a text.',
      price: PRICE,
      input: z.object({ text, algorithm: z.enum(['sha256', 'sha512', 'sha1']).default('sha256') }),
      output: z.object({ algorithm: z.string(), hex: z.string() }),
      example: { text: 'hash me', algorithm: 'sha256' },
      work: ({ text: given, algorithm }) => ({ algorithm, hex: createHash(algorithm).update(given).digest('hex') }),
    }),
    buildRoute({
      method: 'GET',
      path: '/v1/slug',
      summary: 'Makes a text fit to stand in an address.',
      price: PRICE,
      input: z.object({ text }),
      output: z.object({ slug: z.string() }),
      example: { text: 'Crème brûlée, twice' },
      work: ({ text: given }) => ({
        slug: given
          .normalize('NFKD')
          .replace(/\p{M}/gu, '')
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .replace(/^-|-$/g, ''),
      }),
    }),
    buildRoute({
      method: 'GET',
      path: '/v1/convert',
      summary: 'Converts a length from one unit into another.',
      price: PRICE,
      input: z.object({ value: z.coerce.number(), from: unit, to: unit }),
      output: z.object({ value: z.number(), unit: z.string() }),
      example: { value: 26.2, from: 'mi', to: 'km' },
      work: ({ value, from, to }) => ({
        value: Number(((value * FACTORS[from]) / FACTORS[to]).toPrecision(12)),
        unit: to,
      }),
    }),
  ],
};
