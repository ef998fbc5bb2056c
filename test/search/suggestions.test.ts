import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../src/search/request.ts';
import { readSearchText, readSuggestions } from '../../src/search/suggestions.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { skipWithout } from '../skipped.ts';

/** Writes what a request suggests as the list takes it: max_price_usdc=0.01 network=base. Everything is listed. */
function suggest(request: string, isListed: (host: string) => boolean = () => true): string {
  return readSuggestions(request, isListed)
    .map(({ parameter, value }) => `${parameter}=${value}`)
    .join(' ');
}

describe('a price that a request names', () => {
  it.each([
    ['under 1 cent', '0.01'],
    ['max $0.01', '0.01'],
    ['less than 1¢', '0.01'],
    ['less than 1 ¢', '0.01'],
    ['up to half a cent', '0.005'],
    ['0.01 usdc or less', '0.01'],
    ['0.01usdc or less', '0.01'],
    ['below a tenth of a cent', '0.001'],
    ['below one tenth of a cent', '0.001'],
    ['at most 1/10 cent', '0.001'],
    ['at most 1/10 of a cent', '0.001'],
    ['under a hundredth of a cent', '0.0001'],
    ['under a quarter cent', '0.0025'],
    ['at most a third of a cent', '0.003333'],
    ['under a cent', '0.01'],
    ['two cents or less', '0.02'],
    ['no more than five cents', '0.05'],
    ['not more than 5 cts', '0.05'],
    ['maximum of $.05', '0.05'],
    ['a max of 0.5 cents', '0.005'],
    ['max 0,01 usdc', '0.01'],
    ['max 0,001 usdc', '0.001'],
    ['max. 1 cent', '0.01'],
    ['max price: $0.01', '0.01'],
    ['price <= 0.01', '0.01'],
    ['<1¢', '0.01'],
    ['<= $0.01', '0.01'],
    ['≤0.01 USD', '0.01'],
    ['0.01$ max', '0.01'],
    ['US$0.01 at most', '0.01'],
    ['USD 0.03 or less', '0.03'],
    ['$0.03', '0.03'],
    ['1 cent per call', '0.01'],
    ['a budget of 3 cents', '0.03'],
    ['under 2 dollars a call', '2'],
    ['costs less than 1c', '0.01'],
    ['price under 1 cent a call', '0.01'],
  ])('is suggested: %s', (words, value) => {
    expect(suggest(words)).toBe(`max_price_usdc=${value}`);
    expect(readSearchText(words).text).toBe('');
  });

  it.each([
    ['weather forecast under 1 cent', 'weather forecast'],
    ['Weather forecast, under 1 cent.', 'Weather forecast, .'],
    ['ocr (max 2 cents) for receipts', 'ocr ( ) for receipts'],
    ['translate a menu, cheaper than 1 cent please', 'translate a menu, please'],
    ['stock quotes under $0.01/call', 'stock quotes'],
    ['token holders, $0.05 per request or less', 'token holders,'],
    ['web search at a price under 0.01', 'web search at'],
    ['sub-cent geocoding', 'geocoding'],
    ['token prices under 1 cent per call', 'token prices'],
    ['token price <= 0.01', 'token price'],
    ['ocr at a max price of 1 cent', 'ocr at'],
    ['a budget of 3 cents: geocoding', ': geocoding'],
    ['geocoding\nunder 1 cent', 'geocoding'],
  ])('is left out of what is searched for: %s → %s', (request, text) => {
    expect(readSearchText(request).text.replace(/\s+/g, ' ')).toBe(text);
  });

  it.each([
    'hotel near Shibuya under 150 dollars a night',
    'flat in Leipzig below 1000 euro',
    'meme coins under $0.01',
    'tokens below 1 cent with volume',
    'NFTs at most $0.05',
    'penny stocks under 5 cents',
    'transfers of 0.01 usdc or less',
    'shipping for less than 10 cents',
    'gas fee under 1 cent',
    'laptop under $500',
    'web search under $20',
    'bitcoin price over $100',
    'bitcoin price under $100',
    'translation at most 1 cent per word',
    'p-value under 0.05 in papers on sleep',
    'correlation below .05 between btc and gold',
    'temperature drops below 5c',
    'warn me under 2 C in the greenhouse',
    'up to 5 cents cashback',
    'half a cent coin from 1850',
    'tell me when DOGE drops below 10 cents',
    'airdrops under $0.05',
    'donations of less than 10 cents',
    'send $1 to a friend',
    'up to a third of users',
    'max 5 results',
    'word count less than 500',
    'children under 5',
    'more than 1 cent',
    'over 1 cent',
    'at least 1 cent',
    'no less than 1 cent',
    'over 1 cent a call',
    'not under 1 cent',
    'it isn’t under 1 cent',
    'under 1-2 cents',
    'under $1,000 per call',
    'under $0.01.2',
    'under -1 cent',
    'under $0',
    'under 0 cents',
    'under 1/0 cent',
    'under $1e-3',
    'under €0.01',
    'under 0.01 eth',
    'under $0.01 cents',
    'under $0.01¢',
    'under 99999999999999999999 dollars a call',
    'under $0.0000001',
    'under 1 cent, over to you, at most 2 cents',
  ])('is none, or in doubt: %s', (request) => {
    expect(suggest(request)).toBe('');
  });
});

describe('another filter, or an order, that a request names', () => {
  it.each([
    ['free weather api', 'max_price_usdc=0'],
    // Networks
    ['weather forecast on Solana', 'network=solana'],
    ['weather api on base', 'network=base'],
    ['balance of a wallet on Solana', 'network=solana'],
    ['ocr, base mainnet', 'network=base'],
    ['Weather. Solana only.', 'network=solana'],
    ['base only, ocr', 'network=base'],
    ['ocr on the Base network', 'network=base'],
    ['screenshot of a page via Solana', 'network=solana'],
    ['on eip155:8453, transcribe an interview', 'network=base'],
    ['speech to text, paid in usdc on Solana', 'network=solana'],
    ['whale alerts, payable in USDC on Base, please', 'network=base'],
    ['weather APIs that accept Solana', 'network=solana'],
    ['token prices, paid in SOL', 'network=solana'],
    ['image search, solana', 'network=solana'],
    // Verification
    ['verified weather api', 'verified=true'],
    ['proven image converter for webp', 'verified=true'],
    ['geocoding, it has to be verified', 'verified=true'],
    ['contract abi, settlement verified', 'verified=true'],
    ['weather, tested by payment', 'verified=true'],
    ['a weather api that you have paid for', 'verified=true'],
    ['screenshots, one you’ve already paid for', 'verified=true'],
    // Orders
    ['cheapest API for flights', 'sort=price'],
    ['lowest-priced email validation api', 'sort=price'],
    ['web search at the lowest possible price', 'sort=price'],
    ['ocr apis sorted by price ascending', 'sort=price'],
    ['most reliable api for token prices', 'sort=reliability'],
    ['ocr, sort the apis by reliability', 'sort=reliability'],
    ['fastest api for ocr', 'sort=latency'],
    ['geocoding with the lowest latency', 'sort=latency'],
    ['newest APIs', 'sort=updated'],
    ['recently updated endpoints for news', 'sort=updated'],
    // Hosts
    ['weather from api.example.com', 'host=api.example.com'],
    ['weather from API.example.com.', 'host=api.example.com'],
    ['api.example.com', 'host=api.example.com'],
    ['call https://api.example.com/v1/Price?of=gold', 'host=api.example.com'],
    ['https://api.example.com:8443/', 'host=api.example.com:8443'],
    // Several at once, in the order of the words
    [
      'cheapest exchange rates on Base for under 1 cent a call, verified only',
      'sort=price network=base max_price_usdc=0.01 verified=true',
    ],
  ])('is suggested: %s → %s', (request, suggested) => {
    expect(suggest(request)).toBe(suggested);
  });

  it.each([
    ['base64 decode'],
    ['knowledge base search'],
    ['search on knowledge base'],
    ['base rate of interest'],
    ['an estimate based on Base'],
    ['convert to base 10'],
    ['Solana token price'],
    ['weather on Base or Solana'],
    ['weather on Base or on Solana'],
    ['weather not on Solana'],
    ['weather on polygon'],
    ['verified twitter accounts'],
    ['is this email verified'],
    ['apis that are not verified'],
    ['unverified image upscalers'],
    ['proven oil reserves'],
    ['reliable weather api'],
    ['most reliable cars of 2020'],
    ['cheapest flights to Rome'],
    ['not the cheapest api'],
    ['apis sorted by price, highest first'],
    ['lowest price of gold this year'],
    ['fastest route to the airport'],
    ['newest restaurants in Tokyo'],
    ['cheapest or fastest, sorted by price, newest first'],
    ['royalty-free music'],
    ['are you free on Tuesday'],
    ['somebody@listed.example'],
    ['from api.example.com or from listed.example'],
    ['e.g. rain'],
    ['"under 1 cent"'],
    ['songs named “on Solana”'],
    ['the phrase "cheapest API for flights" in tweets'],
    ['weather from "api.example.com"'],
  ])('is none, or in doubt: %s', (request) => {
    expect(suggest(request)).toBe('');
  });

  it('is a host only where something is listed there, of a few that are looked up', () => {
    const asked: string[] = [];
    const isListed = (host: string) => asked.push(host) > 0 && host === 'b.example.com';
    expect(suggest('a.example.com from b.example.com', isListed)).toBe('host=b.example.com');
    expect(suggest(Array.from({ length: 100 }, (_, at) => `host-${at}.example.com`).join(' '), isListed)).toBe('');
    expect(asked.length).toBeLessThan(10);
  });

  it('comes with its words, once', () => {
    expect(readSuggestions('OCR under 1 Cent on the Base network, max $0.01', () => false)).toEqual([
      { parameter: 'max_price_usdc', value: '0.01', words: 'under 1 Cent' },
      { parameter: 'network', value: 'base', words: 'on the Base network' },
    ]);
  });

  it('stays a word of the search, of less weight', () => {
    const weigh = (request: string) =>
      Object.fromEntries(readRequest(request).asked.map(({ word, weight }) => [word, Number(weight.toFixed(2))]));
    expect(weigh('cheapest verified ocr on Solana from api.example.com under 1 cent')).toEqual({
      ...{ cheapest: 0.3, verified: 0.3, ocr: 1, solana: 0.3, example: 0.3 },
    });
    expect(weigh('node.js "verified" sandbox')).toMatchObject({ node: 1, js: 1, verified: 0.63, sandbox: 1 });
    expect(Object.keys(weigh('under 1 cent')).sort()).toEqual(['1', 'cent', 'under']);
  });
});

describe('requests of people who did not know the patterns', () => {
  const read = <T>(name: string): T[] =>
    JSON.parse(readFileSync(resolve(import.meta.dirname, '../data/finding', `${name}.json`), 'utf8'));

  it('mostly suggest what is meant, and hardly anything else', () => {
    const phrasings = read<{ request: string; filters: Record<string, unknown> }>('filters');
    const format = (filters: Record<string, unknown>) =>
      Object.entries(filters)
        .map(([name, value]) => `${name}=${value}`)
        .sort()
        .join(' ');
    const isRight = ({ request, filters }: (typeof phrasings)[number]) =>
      suggest(request).split(' ').sort().join(' ') === format(filters);
    expect(phrasings.length).toBe(60);
    expect(phrasings.filter(isRight).length / phrasings.length).toBeGreaterThanOrEqual(0.8);
    const harmless = read<{ request: string }>('harmless');
    expect(harmless.length).toBe(200);
    expect(harmless.filter(({ request }) => suggest(request) !== '').length).toBeLessThanOrEqual(12);
  });

  it.for(['toolbench', 'toolalpaca'])('of %s hardly ever suggest anything, and no price', (folder, context) => {
    skipWithout('corpus', context);
    const file = resolve(import.meta.dirname, '../../../shared/corpus/requests', folder, 'requests.jsonl');
    const requests = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => String(JSON.parse(line).query));
    const suggested = requests.map((request) => suggest(request, () => false)).filter((words) => words !== '');
    expect(requests.length).toBeGreaterThan(200);
    expect(suggested.length / requests.length).toBeLessThan(0.02);
    expect(suggested.filter((words) => /max_price_usdc=(?!0$)/.test(words))).toEqual([]);
  });
});

describe('any text', () => {
  const fragment = fc.constantFrom(
    ...'under at most max less than not no only or , . : " “ ” ( ) < ≤ $ ¢ 1 0.01 .01 0,01 $0.01 1/10 a half tenth of cent cents usdc'.split(
      ' ',
    ),
    ...'per call /call api apis on the Base base solana mainnet payable paid in verified that you have for cheapest newest'.split(
      ' ',
    ),
    ...'free first sorted by price results weather token GET https://api.example.com/v1/x api.example.com ’ – 天气 é 😀'.split(
      ' ',
    ),
  );
  const request = fc.oneof(
    fc.array(fragment, { maxLength: 30 }).map((words) => words.join(' ')),
    fc.array(fragment, { maxLength: 30 }).map((words) => words.join('')),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
  );
  const listLetters = (text: string) => new Set(text.match(/[\p{L}\p{N}]/gu));

  it('suggests parameters that the list takes, one of a kind, by words that are there', () => {
    fc.assert(
      fc.property(request, (text) => {
        const suggested = readSuggestions(text, () => true);
        for (const { words } of suggested) expect(text.replace(/\s+/g, ' ')).toContain(words);
        const filters = Object.fromEntries(
          suggested.map(({ parameter, value }) => [parameter, parameter === 'verified' ? value === 'true' : value]),
        );
        expect(Object.keys(filters).length).toBe(suggested.length);
        expect(listQuery.safeParse(filters).error).toBeUndefined();
        const left = readSearchText(text);
        expect(left.text.length).toBeLessThanOrEqual(text.length + 2);
        for (const letter of listLetters(left.text)) expect(text).toContain(letter);
      }),
    );
  });

  it('suggests nothing between quotes, and has all of that searched for', () => {
    const unquoted = request.map((text) => text.replace(/["“”]/g, ''));
    fc.assert(
      fc.property(unquoted, (text) => {
        expect(readSuggestions(`"${text}"`, () => true)).toEqual([]);
        expect(readSearchText(`"${text}"`).lesser.size).toBe(0);
      }),
    );
  });

  it.each(
    [
      [
        'under ',
        'at most ',
        'a tenth of ',
        'max 1 cent ',
        'not ',
        'on the Base ',
        'cheapest weather ',
        'sorted by ',
        'only verified ',
        'free ',
        'no a b c d ',
        'in usdc on ',
        'you have already ',
      ],
      [
        '(',
        '"',
        '“',
        '$',
        '<',
        '1',
        '1,',
        '1/',
        '.',
        '/',
        ',',
        ':',
        '\t',
        'x',
        '<=',
        'https://',
        'a.',
        '/api/',
        'a-a.',
      ],
      [
        'under 1 cent, at most 2 cents, ',
        'on Base, on Solana, ',
        'api under 1 cent per call ',
        'that you have paid for ',
        'from https://a.example/ ',
      ],
    ].flat(),
  )('is read in time where it repeats %j', (piece) => {
    // Fifty times as long as a request may be: what takes more than its length's worth of time takes minutes here.
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    expect(readSearchText(text).text.length).toBeLessThanOrEqual(text.length);
    expect(readSuggestions(text, () => false).length).toBeLessThanOrEqual(5);
  });
});
