import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUsdc } from '../../src/model/usdc.ts';
import { type Known, parseRequest, type SaidFilter } from '../../src/search/understanding.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { skipWithout } from '../skipped.ts';
import { readRequests, readTasks, readUnanswered } from './labelled.ts';

/** A catalogue that has every word, and nothing at any address: there most is in doubt. */
const ANY: Known = { isListed: () => false, isKnown: () => true };

/** Writes filters as the list takes them: max_price_usdc=0.01 network=base. */
function formatFilters(filters: readonly SaidFilter[]): string {
  const format = (said: SaidFilter) => (said.filter === 'max_price_usdc' ? formatUsdc(said.value) : said.value);
  return filters.map((said) => `${said.filter}=${format(said)}`).join(' ');
}

describe('a filter that a request says', () => {
  it.each([
    // Amounts, in the ways that people write them
    ['under 1 cent', 'max_price_usdc=0.01', ''],
    ['max $0.01', 'max_price_usdc=0.01', ''],
    ['at most .01', 'max_price_usdc=0.01', ''],
    ['less than 1¢', 'max_price_usdc=0.01', ''],
    ['less than 1 ¢', 'max_price_usdc=0.01', ''],
    ['up to half a cent', 'max_price_usdc=0.005', ''],
    ['0.01 usdc or less', 'max_price_usdc=0.01', ''],
    ['0.01usdc or less', 'max_price_usdc=0.01', ''],
    ['below a tenth of a cent', 'max_price_usdc=0.001', ''],
    ['below one tenth of a cent', 'max_price_usdc=0.001', ''],
    ['at most 1/10 cent', 'max_price_usdc=0.001', ''],
    ['at most 1/10 of a cent', 'max_price_usdc=0.001', ''],
    ['under a hundredth of a cent', 'max_price_usdc=0.0001', ''],
    ['under a quarter cent', 'max_price_usdc=0.0025', ''],
    ['at most a third of a cent', 'max_price_usdc=0.003333', ''],
    ['under a cent', 'max_price_usdc=0.01', ''],
    ['two cents or less', 'max_price_usdc=0.02', ''],
    ['no more than five cents', 'max_price_usdc=0.05', ''],
    ['not more than 5 cts', 'max_price_usdc=0.05', ''],
    ['maximum of $.05', 'max_price_usdc=0.05', ''],
    ['a max of 0.5 cents', 'max_price_usdc=0.005', ''],
    ['max 0,01 usdc', 'max_price_usdc=0.01', ''],
    ['max 0,001 usdc', 'max_price_usdc=0.001', ''],
    ['max. 1 cent', 'max_price_usdc=0.01', ''],
    ['max: 0.01', 'max_price_usdc=0.01', ''],
    ['max price: $0.01', 'max_price_usdc=0.01', ''],
    ['<1¢', 'max_price_usdc=0.01', ''],
    ['<= $0.01', 'max_price_usdc=0.01', ''],
    ['≤0.01 USD', 'max_price_usdc=0.01', ''],
    ['0.01$ max', 'max_price_usdc=0.01', ''],
    ['US$0.01 at most', 'max_price_usdc=0.01', ''],
    ['under $0.0000019', 'max_price_usdc=0.000001', ''],
    // What a price is said of
    ['weather forecast under 1 cent', 'max_price_usdc=0.01', 'weather forecast'],
    ['Weather forecast, under 1 cent.', 'max_price_usdc=0.01', 'Weather forecast'],
    ['ocr (max 2 cents) for receipts', 'max_price_usdc=0.02', 'ocr for receipts'],
    ['screenshot of a page that costs at most 1 cent', 'max_price_usdc=0.01', 'screenshot of a page that'],
    ['translate a menu, cheaper than 1 cent please', 'max_price_usdc=0.01', 'translate a menu please'],
    ['domain whois must not cost more than 1 cent', 'max_price_usdc=0.01', 'domain whois must'],
    ['coin prices for less than 1 cent per call', 'max_price_usdc=0.01', 'coin prices for'],
    ['token holders, $0.05 per request or less', 'max_price_usdc=0.05', 'token holders'],
    ['stock quotes under $0.01/call', 'max_price_usdc=0.01', 'stock quotes'],
    ['wallet balance below 1¢/request', 'max_price_usdc=0.01', 'wallet balance'],
    ['flight search at most 0.01 usdc/query', 'max_price_usdc=0.01', 'flight search'],
    ['flight status under 2 dollars a call', 'max_price_usdc=2', 'flight status'],
    ['image generation API under $0.25', 'max_price_usdc=0.25', 'image generation API'],
    ['token price api max $0.01', 'max_price_usdc=0.01', 'token price api'],
    ['apis that cost less than 1c', 'max_price_usdc=0.01', 'apis that'],
    ['endpoints priced under .001 for gas prices', 'max_price_usdc=0.001', 'endpoints for gas prices'],
    ['web search, at most .01', 'max_price_usdc=0.01', 'web search'],
    ['web search at a price under 0.01', 'max_price_usdc=0.01', 'web search'],
    ['web search, price <= 0.01', 'max_price_usdc=0.01', 'web search'],
    ['web search under a penny', 'max_price_usdc=0.01', 'web search'],
    ['web search for USD 0.03 or less', 'max_price_usdc=0.03', 'web search for'],
    ['sub-cent geocoding', 'max_price_usdc=0.01', 'geocoding'],
    ['geocoding, and I cannot spend over two cents a lookup', 'max_price_usdc=0.02', 'geocoding, and I'],
    ['a budget of 3 cents: geocoding', 'max_price_usdc=0.03', 'geocoding'],
    ['under 1 cent: geocoding, not more than 1 cent', 'max_price_usdc=0.01', 'geocoding'],
    // Networks
    ['weather forecast on Solana', 'network=solana', 'weather forecast'],
    ['weather forecast on solana', 'network=solana', 'weather forecast'],
    ['weather forecast on Base', 'network=base', 'weather forecast'],
    ['weather api on base', 'network=base', 'weather api'],
    ['ocr, base mainnet', 'network=base', 'ocr'],
    ['Weather. Solana only.', 'network=solana', 'Weather'],
    ['base only, ocr', 'network=base', 'ocr'],
    ['ocr on the Base network', 'network=base', 'ocr'],
    ['ocr on the solana chain only', 'network=solana', 'ocr'],
    ['screenshot of a page via Solana', 'network=solana', 'screenshot of a page'],
    ['on eip155:8453, transcribe an interview', 'network=base', 'transcribe an interview'],
    ['speech to text, paid in usdc on Solana', 'network=solana', 'speech to text'],
    ['find something I can pay with usdc on base for geocoding', 'network=base', 'find something for geocoding'],
    ['token prices payable on Solana', 'network=solana', 'token prices'],
    ['whale alerts, payable in USDC on Base, please', 'network=base', 'whale alerts please'],
    ['weather APIs that accept Solana', 'network=solana', 'weather APIs'],
    ['token prices, paid in SOL', 'network=solana', 'token prices'],
    ['ocr. My wallet only has USDC on Base.', 'network=base', 'ocr'],
    ['contracts deployed on base, paid on base', 'network=base', 'contracts deployed on base'],
    // Verification
    ['verified weather api', 'verified=true', 'weather api'],
    ['proven image converter for webp', 'verified=true', 'image converter for webp'],
    ['geocoding, it has to be verified', 'verified=true', 'geocoding'],
    ['unverified apis', 'verified=false', ''],
    ['unverified image upscalers', 'verified=false', 'image upscalers'],
    ['geocoding apis that nobody has paid for yet', 'verified=false', 'geocoding apis'],
    ['verified apis for web search', 'verified=true', 'for web search'],
    ['only verified endpoints, wallet labels', 'verified=true', 'wallet labels'],
    ['geocoding, verified only', 'verified=true', 'geocoding'],
    ['geocoding, only verified', 'verified=true', 'geocoding'],
    ['web search from proven APIs', 'verified=true', 'web search from'],
    ['only proven providers: web search', 'verified=true', 'web search'],
    ['verified sellers only, token prices', 'verified=true', 'token prices'],
    ['settlement-verified weather, that is: settlement-verified', 'verified=true', 'weather, that is'],
    ['contract abi, settlement verified', 'verified=true', 'contract abi'],
    ['a weather api that you have paid for', 'verified=true', 'a weather api'],
    ['screenshots, one you’ve already paid for', 'verified=true', 'screenshots, one'],
    ["screenshots, one you've already paid for", 'verified=true', 'screenshots, one'],
    // Reliability band, which is said by its name alone
    ['weather, reliability band established', 'band=established', 'weather'],
    ['established reliability, weather', 'band=established', 'weather'],
    // Orders
    ['cheapest API for flights', 'sort=price', 'API for flights'],
    ['the cheapest weather api', 'sort=price', 'the weather api'],
    ['cheapest image generation api', 'sort=price', 'image generation api'],
    ['least expensive ocr endpoint', 'sort=price', 'ocr endpoint'],
    ['lowest-priced email validation api', 'sort=price', 'email validation api'],
    ['most reliable api for token prices', 'sort=reliability', 'api for token prices'],
    ['most dependable web search api', 'sort=reliability', 'web search api'],
    ['newest APIs', 'sort=updated', 'APIs'],
    ['recently updated endpoints for news', 'sort=updated', 'endpoints for news'],
    ['weather apis, cheapest first', 'sort=price', 'weather apis'],
    ['token price apis sorted lowest price first', 'sort=price', 'token price apis'],
    ['ocr apis, newest ones first', 'sort=updated', 'ocr apis'],
    ['sort results by price: ocr', 'sort=price', 'ocr'],
    ['ocr, sort the apis by reliability', 'sort=reliability', 'ocr'],
    ['ocr apis ordered by cost, lowest first', 'sort=price', 'ocr apis'],
    ['ocr apis sorted by price ascending', 'sort=price', 'ocr apis'],
    ['ocr apis ordered by cost lowest first', 'sort=price', 'ocr apis'],
    ['cheapest llm api', 'sort=price', 'llm api'],
    ['cheapest image generation', 'sort=price', 'image generation'],
    ['cheapest speech to text', 'sort=price', 'speech to text'],
    ['web search at the lowest possible price', 'sort=price', 'web search'],
    ['fastest api for ocr', 'sort=latency', 'api for ocr'],
    ['low-latency geocoding', 'sort=latency', 'geocoding'],
    ['geocoding with the lowest latency', 'sort=latency', 'geocoding'],
    ['most recently verified weather', 'sort=proof', 'weather'],
    ['ocr sorted by speed', 'sort=latency', 'ocr'],
    // Several at once: what is certain makes others certain, too
    [
      'cheapest exchange rates on Base for under 1 cent a call',
      'sort=price network=base max_price_usdc=0.01',
      'exchange rates for',
    ],
    [
      'cheapest weather api on Base under 1 cent, verified only',
      'sort=price network=base max_price_usdc=0.01 verified=true',
      'weather api',
    ],
    ['ocr payable on Solana for less than 2 cents a call', 'network=solana max_price_usdc=0.02', 'ocr for'],
  ])('%s → %s, and there remains: %s', (request, filters, text) => {
    const parsed = parseRequest(request, ANY);
    expect([formatFilters(parsed.filters), parsed.text]).toEqual([filters, text]);
  });

  it('is read where one letter of it is wrong and the catalogue does not know the word', () => {
    const parsed = parseRequest('ocr on solna', { ...ANY, isKnown: (word) => word === 'ocr' });
    expect([formatFilters(parsed.filters), parsed.text]).toEqual(['network=solana', 'ocr']);
    expect(parseRequest('ocr on solna', ANY).filters).toEqual([]);
  });

  it('is given with the words that said it, and once where it was said twice', () => {
    expect(parseRequest('OCR under 1 Cent on the Base network, max $0.01', ANY).filters).toEqual([
      { filter: 'max_price_usdc', value: 10_000, words: ['under 1 Cent', 'max $0.01'] },
      { filter: 'network', value: 'base', words: ['on the Base network'] },
    ]);
  });
});

describe('words that only look like a filter', () => {
  it.each([
    // Prices of things
    'hotel near Shibuya under 150 dollars a night',
    'flat in Leipzig below 1000 euro',
    'album cover, must not cost more than a coffee',
    'meme coins under $0.01',
    'tokens below 1 cent with volume',
    'NFTs at most $0.05',
    'penny stocks under 5 cents',
    'transfers of 0.01 usdc or less',
    'swap with slippage at most .01',
    'shipping for less than 10 cents',
    'yes shares below 5 cents on polymarket',
    'gas fee under 1 cent',
    'laptop under $500',
    'web search under $20',
    'translation at most 1 cent per word',
    'storage under 1 cent per gigabyte',
    'p-value under 0.05 in papers on sleep',
    'correlation below .05 between btc and gold',
    'temperature drops below 5c',
    'warn me under 2 C in the greenhouse',
    'image similarity at most 0.1 distance',
    'up to 5 cents cashback',
    'under 1 cent deviation from the peg',
    'half a cent coin from 1850',
    'tell me when DOGE drops below 10 cents',
    'yes on polymarket under 5 cents',
    'airdrops under $0.05',
    'sell when the price is under 10 cents',
    'donations of less than 10 cents',
    'up to a third of users',
    'max 5 results',
    'up to 10 pages',
    'at most two sentences',
    'free weather api',
    'free of charge',
    'word count less than 500',
    'children under 5',
    '1 cent per call',
    'more than 1 cent',
    'at least 1 cent',
    'no less than 1 cent',
    'not under 1 cent',
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
    'api max ,01',
    'api max 01',
    'under $0.01¢',
    'under 99999999999999999999 dollars a call',
    'under $0.0000001',
    'under 1 cent, over to you, at most 2 cents',
    'under, say, 1 cent',
    // Networks as a subject
    'base64 decode',
    'on base64 strings',
    'knowledge base search',
    'search on knowledge base',
    'customer base analysis',
    'base rate of interest',
    'based on Base rates',
    'an estimate based on Base',
    'runners on base',
    'Runners On Base in baseball',
    'convert to base 10',
    'Solana token price',
    'token price on Solana',
    'new tokens on Base',
    'wallet balance on base mainnet',
    'base mainnet rpc',
    'gas on Base right now',
    'large usdc movements on Base',
    'send usdc on solana',
    'pump.fun launches on Solana',
    'validators on the Solana network',
    'x402 payments on Base',
    'weather on Base or Solana',
    'weather on Base or on Solana',
    'weather on Base, and on Solana',
    'weather not on Solana',
    'weather on Base Camp at Everest',
    'weather on polygon',
    'what is Solana',
    'build a website on Solana beach',
    'pay my rent on Base',
    'pay a friend with usdc on solana',
    'send 5 dollars on Solana',
    'customers on Solana only pages',
    'latest news on Solana',
    'developers building on Base',
    'which projects on Solana got grants',
    // Verified as a subject
    'verified contract source code',
    'verified twitter accounts',
    'is this email verified',
    'verified reviews only of this blender',
    'verified sellers on amazon',
    'verified api documentation',
    'apis that are not verified apis',
    'it isn’t under 1 cent',
    'proven oil reserves',
    'proven recipes',
    'invoices for things that you have paid for',
    'check that you have paid for parking',
    'unverified rumours',
    // Reliability as a subject
    'reliable weather api',
    '99% uptime',
    'which frontier provider is the most reliable',
    'most reliable cars of 2020',
    'RPC nodes with the most reliable answers',
    'established companies in Ohio',
    'an established band from Liverpool',
    'thin crust',
    // Orders of other things
    'cheapest flights to Rome',
    'cheapest flights api',
    'cheapest flights',
    'cheapest cities to live in',
    'cheapest hotels in Rome',
    'newest restaurants in Tokyo',
    'fastest route to the airport',
    'fastest car ever made',
    'verified hosts near the beach',
    'proven methods against insomnia',
    'which llm is cheapest',
    'cheapest bridge route to Base',
    'cheapest provider of electricity in Texas',
    'cheapest place that serves llama 70b',
    'hotels in Rome, cheapest first',
    'tweets of NASA, newest first',
    'newest posts in a community',
    'newest listings on binance',
    "stripe's newest api",
    'newest api version of stripe',
    'cheapest api calls',
    'not the cheapest api',
    'fastest route to the airport',
    'hotels sorted by price',
    'sort these numbers by price',
    'sort google results by price',
    'apis sorted by price highest first',
    'apis sorted by price, highest first',
    'apis sorted by price, most expensive on top',
    'search results ordered by price',
    'lowest price of gold this year',
    'lowest price api',
    'best price first class flights',
    'most recently updated packages on npm',
    'latest news about anthropic',
    // Quoted
    '"under 1 cent"',
    'songs named “on Solana”',
    'the phrase "cheapest API for flights" in tweets',
  ])('stay in the text: %s', (request) => {
    expect(parseRequest(request, ANY)).toMatchObject({ filters: [], text: request });
  });

  it.for(['toolbench', 'toolalpaca'])('are all there is in the requests of %s', (folder, context) => {
    skipWithout('corpus', context);
    const file = resolve(import.meta.dirname, '../../../shared/corpus/requests', folder, 'requests.jsonl');
    const requests = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => String(JSON.parse(line).query));
    expect(requests.length).toBeGreaterThan(200);
    expect(requests.filter((request) => parseRequest(request, ANY).filters.length > 0)).toEqual([]);
  });

  it('are all there is in our own requests', () => {
    const requests = [...readRequests(), ...readTasks(), ...readUnanswered()].map(({ q }) => q);
    expect(requests.filter((request) => parseRequest(request, ANY).filters.length > 0)).toEqual([]);
  });
});

describe('an address that a request points at', () => {
  const HOSTS = ['api.example.com', 'listed.example', 'api.example.com:8443'];
  const PATHS = ['/v1/Price', '/v1/price', '/v1/price?of=gold', '/price'];
  const isListed = (host: string | undefined, path: string | undefined) =>
    (host === undefined || HOSTS.includes(host)) && (path === undefined || PATHS.includes(path));
  const parse = (request: string) => {
    const { filters, text } = parseRequest(request, { isListed, isKnown: () => true });
    return { ...Object.fromEntries(filters.map(({ filter, value }) => [filter, value])), text };
  };

  it.each([
    ['weather from api.example.com', { host: 'api.example.com', text: 'weather from' }],
    ['weather from API.example.com.', { host: 'api.example.com', text: 'weather from' }],
    ['api.example.com', { host: 'api.example.com', text: '' }],
    ['api.example.com weather', { host: 'api.example.com', text: 'weather' }],
    ['call https://api.example.com/v1/Price', { host: 'api.example.com', path: '/v1/Price', text: 'call' }],
    ['via api.example.com/v1/Price, gold', { host: 'api.example.com', path: '/v1/Price', text: 'via gold' }],
    ['https://api.example.com:8443/', { host: 'api.example.com:8443', text: '' }],
    ['https://api.example.com/unknown', { host: 'api.example.com', text: '' }],
    [
      'POST https://api.example.com/v1/price?of=gold now',
      { host: 'api.example.com', path: '/v1/price?of=gold', text: 'now' },
    ],
    ['gold by GET /v1/price', { path: '/v1/price', text: 'gold by' }],
    ['what does /v1/price cost', { path: '/v1/price', text: 'what does cost' }],
    ['/price', { path: '/price', text: '' }],
  ])('is a filter: %s', (request, said) => {
    expect(parse(request)).toEqual(said);
  });

  it.each([
    'screenshot of https://api.example.com/v1/price',
    'who owns listed.example',
    'weather from other.example',
    'who serves /price',
    'what does /v1/unknown cost',
    'weather from "api.example.com"',
    'weather from api.example.com or from listed.example',
    'from api.example.com/v1/price or from listed.example',
    'somebody@listed.example',
    'GET',
    'GET it',
    'e.g. rain',
  ])('is none, and stays in the text: %s', (request) => {
    expect(parse(request)).toEqual({ text: request });
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
    ...'first sorted by price results weather token GET https://api.example.com/v1/x /v1/price api.example.com ’ – 天气 é 😀'.split(
      ' ',
    ),
  );
  const request = fc.oneof(
    fc.array(fragment, { maxLength: 30 }).map((words) => words.join(' ')),
    fc.array(fragment, { maxLength: 30 }).map((words) => words.join('')),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
  );
  const listLetters = (text: string) => (text.match(/[\p{L}\p{N}]/gu) ?? []).sort().join('');

  it('loses no word, and says filters that the list takes', () => {
    fc.assert(
      fc.property(request, (text) => {
        const parsed = parseRequest(text, ANY);
        const words = parsed.filters.flatMap((said) => said.words);
        for (const piece of words) expect(text).toContain(piece);
        expect(listLetters([...words, parsed.text].join(' '))).toBe(listLetters(text));
        const filters = parsed.filters.map((said) => [
          said.filter,
          said.filter === 'max_price_usdc' ? formatUsdc(said.value) : said.value,
        ]);
        expect(new Set(filters.map(([filter]) => filter)).size).toBe(filters.length);
        expect(listQuery.safeParse(Object.fromEntries(filters)).error).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
    expect(Object.keys(listQuery.shape)).toContain('max_price_usdc');
  });

  it('says no filter between quotes', () => {
    const unquoted = request.map((text) => text.replace(/["“”]/g, ''));
    fc.assert(
      fc.property(unquoted, (text) => {
        expect(parseRequest(`"${text}"`, ANY).filters).toEqual([]);
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
      ],
      ['(', '"', '“', '$', '<', '1', '1,', '1/', '.', '/', ',', ':', '\t', 'x', '<=', 'https://', 'a.', '/api/'],
      [
        'under 1 cent, at most 2 cents, ',
        'on Base, on Solana, ',
        'api under 1 cent per call ',
        'that you have paid for ',
      ],
    ].flat(),
  )('is parsed in time where it repeats %j', (piece) => {
    // Fifty times as long as a request may be: what takes more than its length's worth of time takes minutes here.
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    expect(parseRequest(text, ANY).text.length).toBeLessThanOrEqual(text.length);
  });
});
