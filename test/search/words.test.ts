import { describe, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { selectListings } from '../../src/published/select.ts';
import { getStem, listWords } from '../../src/search/words.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, NOW } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration } from '../written.ts';

describe('the words of a text', () => {
  it.each([
    ['getTokenPrice', ['get', 'token', 'price']],
    ['/v1/wallet_profile/:address', ['v1', 'wallet', 'profile', 'address']],
    ['PDFExtract', ['pdf', 'extract']],
    ['erc20 SHA256', ['erc20', 'erc', 'sha256', 'sha']],
    ['Café Zürich', ['cafe', 'zurich']],
    ['天气预报', ['天气', '气预', '预报']],
    ['—;"()', []],
  ])('of %j are %j', (text, words) => {
    expect(listWords(text)).toEqual(words);
  });

  it('have one stem for their forms, but short ones are left alone', () => {
    expect(getStem('converting')).toBe(getStem('converts'));
    expect(getStem('apy')).not.toBe(getStem('api'));
  });
});

describe('a listing', () => {
  const find = async (q: string) => {
    const catalogue = await makeCatalogue();
    const others: Partial<Declaration>[] = Array.from({ length: 8 }, (_, n) => ({
      title: `Other ${n}`,
      description: 'Nothing.',
    }));
    const wanted: Partial<Declaration> = {
      title: 'Webcrawler',
      tagline: 'Converts web pages.',
      routes: [
        makeRoute({
          path: '/v2/transcript',
          description: 'Recognised letters of a picture.',
          input_schema: { type: 'object', properties: { body: { type: 'object', properties: { fileFormat: {} } } } },
        }),
      ],
    };
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (const [n, overrides] of [wanted, ...others].entries()) {
        const base_url = `https://n${n}.example-provider.com`;
        await recordDeclaration(
          writing,
          makeDeclaration({ slug: n === 0 ? 'wanted' : `n${n}`, base_url, ...overrides }),
        );
      }
    });
    const reading = await openTestReading(catalogue);
    const { listings, total } = selectListings(reading.published, reading.getSnapshot(), listQuery.parse({ q }));
    reading.close();
    return { first: listings[0]?.slug, total };
  };

  it.each([
    ['the form of a word', 'converting'],
    ['a word written apart', 'web crawler'],
    ['a word written together', 'webpages'],
    ['a word mistyped', 'webcrwaler'],
    ['a word mistyped that stems differently', 'convrts'],
    ['the beginning of a word being typed', 'webcr'],
    ['a word that means the same here', 'transcribe'],
    ['an abbreviation', 'ocr'],
    ["a route's path", 'transcripts'],
    ["a route's input field, nested and joined", 'file_format'],
  ])('is found by %s', async (_, q) => {
    expect(await find(q)).toEqual({ first: 'wanted', total: 1 });
  });

  it('is not found by words that nothing has, by signs, or by operators of a query language', async () => {
    expect((await find('xylophone')).total).toBe(0);
    expect((await find('"*()')).total).toBe(0);
    expect((await find('"; DROP {title} : webcrawler')).first).toBe('wanted');
  });
});
