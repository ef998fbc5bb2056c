import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fillCallInput } from '../../src/evidence/call-input.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import { type ManifestFile, readManifests } from '../../src/sources/manifest.ts';
import { findOutputFields } from '../../src/views/listing/fields.ts';
import { skipWithout } from '../skipped.ts';
import { listCorpusTexts } from './corpus-texts.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'data/listings');
const CORPUS = resolve(ROOT, '../shared/corpus');

/** A fixed day after every `observed.at`, so that the suite gives the same result on any clock. */
const NOW = '2026-11-01T00:00:00.000Z';

const files: ManifestFile[] = [];
const listings: { file: string; declaration: Declaration }[] = [];

beforeAll(async () => {
  for await (const file of readManifests([FOLDER], { allowPrivateNetworks: false, now: NOW })) {
    files.push(file);
    if (file.declaration) listings.push({ file: file.name, declaration: file.declaration });
  }
});

describe('the seed listings', () => {
  it('parse without a finding', () => {
    expect(files.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([]);
    expect(listings.length).toBe(readdirSync(FOLDER).length);
  });

  it('are at least forty, of at least thirty providers', () => {
    expect(listings.length).toBeGreaterThanOrEqual(40);
    expect(new Set(listings.map(({ declaration }) => declaration.provider_name)).size).toBeGreaterThanOrEqual(30);
  });

  it('are each named after their slug', () => {
    const misnamed = listings.filter(({ file, declaration }) => !file.endsWith(`${declaration.slug}.yaml`));
    expect(misnamed.map(({ file }) => file)).toEqual([]);
  });

  it('come under all five categories', () => {
    expect(new Set(listings.map(({ declaration }) => declaration.category))).toEqual(new Set(CATEGORIES));
  });

  it('each say where and when their facts were seen', () => {
    const undated = listings.filter(({ declaration }) => declaration.source.observed_at === null);
    expect(undated.map(({ file }) => file)).toEqual([]);
    for (const { observed } of listSources()) expect(observed.source).toMatch(/^https:\/\//);
  });

  it('have a base address each, none of them twice', () => {
    const addresses = listings.map(({ declaration }) => declaration.base_url);
    expect(addresses.filter((address, index) => addresses.indexOf(address) !== index)).toEqual([]);
  });

  it('have a name each, none of them twice', () => {
    const titles = listings.map(({ declaration }) => declaration.title.toLowerCase());
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it('have routes with a price and a payee on each network', () => {
    const routes = listings.flatMap(({ file, declaration }) => declaration.routes.map((route) => ({ file, route })));
    const lacking = routes.filter(({ route: { terms } }) => terms.length === 0 || terms.some((term) => !term.pay_to));
    expect(lacking.map(({ file, route }) => `${file}: ${route.method} ${route.path}`)).toEqual([]);
    expect(listings.filter(({ declaration }) => declaration.routes.length === 0)).toEqual([]);
  });

  it('describe themselves and every route in whole sentences', () => {
    for (const { file, declaration } of listings) {
      const sentences = [declaration.description, ...declaration.routes.map(({ description }) => description)];
      for (const text of sentences) expect(text, file).toMatch(/^[A-Z0-9a-z].*[.?]$/s);
      expect(declaration.tagline.length, `${file}: tagline`).toBeLessThanOrEqual(95);
    }
  });

  it('give requests that their declared input allows', () => {
    const examples = listings.flatMap(({ file, declaration: { routes } }) =>
      routes.filter(({ example }) => example !== null).map((route) => ({ file, route, ...fillCallInput(route) })),
    );
    const others = examples.filter(({ basis, replace }) => basis !== 'example' && replace.length === 0);
    expect(examples.length).toBeGreaterThan(200);
    expect(others.map(({ file, route }) => `${file}: ${route.method} ${route.path}`)).toEqual([]);
  });

  it('say what their routes return, at least forty of them', () => {
    const telling = listings.filter(({ declaration: { routes } }) =>
      routes.some((route) => findOutputFields(route, [])),
    );
    expect(telling.length).toBeGreaterThanOrEqual(40);
  });

  it('share no sentence of six words or more with each other', () => {
    const seen = new Map<string, string>();
    const shared: string[] = [];
    for (const { file, sentence } of listSentences()) {
      const before = seen.get(sentence);
      if (before && before !== file) shared.push(`${file} and ${before}: ${sentence}`);
      seen.set(sentence, file);
    }
    expect(shared).toEqual([]);
  });
});

describe('the words of the seed listings', () => {
  it('are not those of the harvested feeds', (context) => {
    skipWithout('corpus', context);
    const corpus = listCorpusTexts(CORPUS).map(getWords).join('\n');
    expect(corpus.length).toBeGreaterThan(500_000);
    const copied = listSentences().filter(({ sentence }) => corpus.includes(sentence));
    expect(copied).toEqual([]);
  });
});

/** The files as they stand, for what a declaration does not carry over. */
function listSources(): { observed: { source: string } }[] {
  return files.map(({ path }) => parse(readFileSync(path, 'utf8')));
}

/** Sentences of six words or more: tagline, description, and the descriptions of routes and of their fields. */
function listSentences(): { file: string; sentence: string }[] {
  return listings.flatMap(({ file, declaration: { tagline, description, routes } }) =>
    [tagline, description, ...routes.flatMap((route) => [route.description, ...listMeanings(route)])]
      .flatMap((text) => text.split(/(?<=[.?!:;])\s+/))
      .map(getWords)
      .filter((sentence) => sentence.split(' ').length >= 6)
      .map((sentence) => ({ file, sentence })),
  );
}

/** What a route's schemas say of its fields. */
function listMeanings({ input_schema, output_schema }: DeclaredRoute): string[] {
  const meanings: string[] = [];
  JSON.stringify([input_schema, { ...output_schema, examples: [] }], (name, value) => {
    if (name === 'description' && typeof value === 'string') meanings.push(value);
    return value;
  });
  return meanings;
}

/** Words alone, in lower case, so that punctuation does not hide a likeness. */
function getWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
