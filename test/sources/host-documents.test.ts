import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { parseOutsideUrl } from '../../src/fetching/address.ts';
import type { FetchResponse } from '../../src/fetching/client.ts';
import { openTextResolver } from '../../src/fetching/text-records.ts';
import { KNOWN_FEEDS } from '../../src/sources/bazaar/feed.ts';
import { readHostDocuments, readWholeDocument } from '../../src/sources/host-documents.ts';
import { NOW } from '../records.ts';
import { makeDocument, makeOperation } from './openapi/documents.ts';

const HOST = 'https://api.tides-of-tests.com';
const OPTIONS = { name: HOST, base_url: null, allowPrivateNetworks: false, now: NOW };
const PRICED = { endpoints: [{ path: '/v1/heights', method: 'GET', price: '$0.05' }] };

/** Serves documents by their address; everything else is a 404. Texts are the TXT records of every name. */
function makeContext(pages: Record<string, unknown>, texts: string[] = []) {
  const asked: string[] = [];
  const names: string[] = [];
  const client = {
    fetch: async (address: string | URL): Promise<FetchResponse> => {
      const url = String(address);
      asked.push(url);
      const page = pages[url];
      const body = Buffer.from(typeof page === 'string' ? page : JSON.stringify(page ?? {}));
      const counts = { receivedBytes: body.length, redirects: [], elapsedMs: 0 };
      return { url, status: page === undefined ? 404 : 200, headers: new Headers(), body, ...counts };
    },
  };
  const listTexts = async (name: string) => {
    names.push(name);
    return texts;
  };
  return { asked, names, context: { client, resolver: { listTexts }, signal: new AbortController().signal } };
}

/** Reads a document, and lists its routes with their prices. */
async function readPrices(address: string, pages: Record<string, unknown>, texts?: string[]): Promise<unknown> {
  const read = await readWholeDocument(address, OPTIONS, makeContext(pages, texts).context);
  if ('code' in read) return read.code;
  return read.declarations.flatMap(({ base_url, routes }) =>
    routes.map(({ method, path, terms }) => `${method} ${base_url}${path} ${terms[0]?.amount ?? '-'}`),
  );
}

describe('the documents of a host', () => {
  it.each([
    ['/.well-known/x402', PRICED, ['GET https://api.tides-of-tests.com/v1/heights 50000']],
    ['/.well-known/x402.json', PRICED, ['GET https://api.tides-of-tests.com/v1/heights 50000']],
    ['/openapi.json', makeDocument(), ['GET https://api.tides-of-tests.com/v1/heights 20000']],
  ])('are read at %s', async (path, document, routes) => {
    expect(await readPrices(HOST, { [`${HOST}${path}`]: document })).toEqual(routes);
  });

  it('are read where a TXT record says so', async () => {
    const { context, names } = makeContext({ 'https://docs.tides-of-tests.com/x402': PRICED }, [
      'v=spf1 -all',
      'v=x4021;descriptor=api;url=https://docs.tides-of-tests.com/x402',
    ]);
    const { places } = await readHostDocuments(HOST, OPTIONS, context);
    expect(names).toEqual(['_x402.api.tides-of-tests.com']);
    expect(places.map(({ url, read }) => [url, typeof read === 'string' ? read : 'there'])).toEqual([
      ['https://docs.tides-of-tests.com/x402', 'there'],
      [`${HOST}/.well-known/x402`, 'absent'],
      [`${HOST}/.well-known/x402.json`, 'absent'],
      [`${HOST}/openapi.json`, 'absent'],
    ]);
  });

  it('are none where pages are served for every address', async () => {
    const page = '<!doctype html><title>Tides</title>';
    const pages = Object.fromEntries(
      ['/', '/.well-known/x402', '/.well-known/x402.json', '/openapi.json'].map((path) => [`${HOST}${path}`, page]),
    );
    expect(await readPrices(`${HOST}/`, pages)).toBe('document_html');
  });

  it('complete each other: the addresses of a file, and the prices of OpenAPI', async () => {
    const pages = {
      [`${HOST}/.well-known/x402`]: { version: 1, resources: [`${HOST}/v1/heights`, `${HOST}/v1/ports`] },
      [`${HOST}/openapi.json`]: makeDocument(),
    };
    expect(await readPrices(HOST, pages)).toEqual([
      'GET https://api.tides-of-tests.com/v1/heights 20000',
      'GET https://api.tides-of-tests.com/v1/ports -',
    ]);
  });

  it('are the first that has something to list', async () => {
    const pages = {
      [`${HOST}/.well-known/x402`]: { version: 1, resources: [] },
      [`${HOST}/openapi.json`]: makeDocument(),
    };
    expect(await readPrices(HOST, pages)).toEqual(['GET https://api.tides-of-tests.com/v1/heights 20000']);
  });
});

describe('an OpenAPI document that a file names', () => {
  it('is read, and merged with the file', async () => {
    const file = { ...PRICED, openapi: `${HOST}/docs/openapi.json` };
    const paths = { '/v1/heights': { get: makeOperation() }, '/v1/ports': { get: makeOperation() } };
    const openapi = makeDocument({ paths });
    const pages = { [`${HOST}/.well-known/x402`]: file, [`${HOST}/docs/openapi.json`]: openapi };
    expect(await readPrices(`${HOST}/.well-known/x402`, pages)).toEqual([
      'GET https://api.tides-of-tests.com/v1/heights 50000',
      'GET https://api.tides-of-tests.com/v1/ports 20000',
    ]);
  });

  it.each([
    ['the file', {}, '0.05', 'base'],
    ['OpenAPI, where that alone names a network', { network: 'solana' }, '0.02', 'solana'],
  ])('has the price of %s', async (_whose, info, usdc, network) => {
    const operation = makeOperation({ 'x-payment-info': { price: '0.02', ...info } });
    const { context } = makeContext({
      [`${HOST}/.well-known/x402`]: { ...PRICED, openapi: `${HOST}/openapi.json` },
      [`${HOST}/openapi.json`]: makeDocument({ paths: { '/v1/heights': { get: operation } } }),
    });
    const read = await readWholeDocument(`${HOST}/.well-known/x402`, OPTIONS, context);
    const routes = 'code' in read ? [] : read.declarations.flatMap(({ routes }) => routes);
    expect(routes.map(({ terms }) => terms)).toMatchObject([[{ network, amount: Number(usdc) * 1e6 }]]);
  });

  it.each([
    ['there is none', undefined],
    ['it is a page', '<p>'],
    ['it is other JSON', { a: 1 }],
  ])('leaves the file alone where %s', async (_why, openapi) => {
    const file = { ...PRICED, openapi: `${HOST}/docs/openapi.json` };
    const { context } = makeContext({
      [`${HOST}/x402`]: file,
      ...(openapi && { [`${HOST}/docs/openapi.json`]: openapi }),
    });
    const read = await readWholeDocument(`${HOST}/x402`, OPTIONS, context);
    expect(read).toMatchObject({ items: { taken: 1 } });
    expect('code' in read ? [] : read.findings.map(({ code }) => code)).toContain('openapi_not_read');
  });

  it('is listed under the requested base address, by the server there', async () => {
    const file = { resources: ['GET /v2/ports'], openapi: '/openapi.json' };
    const servers = [{ url: 'https://other.tides-of-tests.com' }, { url: `${HOST}/v2` }];
    const pages = { [`${HOST}/x402`]: file, [`${HOST}/openapi.json`]: makeDocument({ servers }) };
    const { context } = makeContext(pages);
    const read = await readWholeDocument(`${HOST}/x402`, { ...OPTIONS, base_url: `${HOST}/v2` }, context);
    expect(read).toMatchObject({
      declarations: [{ base_url: `${HOST}/v2`, routes: [{ path: '/ports' }, { path: '/v1/heights' }] }],
      items: { received: 2, taken: 2, refused: 0 },
    });
  });

  it('is not followed further than once', async () => {
    const file = { ...PRICED, openapi: `${HOST}/x402` };
    const { context, asked } = makeContext({ [`${HOST}/x402`]: file });
    await readWholeDocument(`${HOST}/x402`, OPTIONS, context);
    expect(asked).toEqual([`${HOST}/x402`, `${HOST}/x402`]);
  });
});

describe('a TXT record', () => {
  /** Lists the addresses beside the usual ones that are asked for because of TXT records. */
  async function listAsked(texts: string[]): Promise<string[]> {
    const { context, asked } = makeContext({}, texts);
    await readHostDocuments(HOST, OPTIONS, context);
    return asked.filter((address) => !address.startsWith(HOST));
  }

  it.each([
    ['v=x4021;url=https://a.example/x402', ['https://a.example/x402']],
    [' V = x4021 ; URL = https://a.example/x402?b=c ', ['https://a.example/x402?b=c']],
    ['v=x4021;url=http://a.example/x402', []],
    ['v=x4021;url=https://10.0.0.1/x402', []],
    ['v=spf1;url=https://a.example/x402', []],
    ['v=x4021', []],
    ['', []],
  ])('%j names %j', async (text, addresses) => {
    expect(await listAsked([text])).toEqual(addresses);
  });

  it('names at most four addresses', async () => {
    const texts = Array.from({ length: 9 }, (_, at) => `v=x4021;url=https://a.example/${at}`);
    expect(await listAsked(texts)).toHaveLength(4);
  });

  it('is none where no name server answers', async () => {
    const resolver = openTextResolver({ servers: ['127.0.0.1:1'] });
    expect(await resolver.listTexts('_x402.tides-of-tests.com')).toEqual([]);
    resolver.close();
  });
});

it('every known feed has an address that may be fetched', () => {
  expect(KNOWN_FEEDS).toHaveProperty('cdp');
  for (const [name, address] of Object.entries(KNOWN_FEEDS)) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(parseOutsideUrl(address, { allowPrivateNetworks: false })).toBeInstanceOf(URL);
    expect(address).toMatch(/\/discovery\/resources$/);
  }
});

it('a failure of our own is not taken for an absent document', async () => {
  const controller = new AbortController();
  const { context } = makeContext({});
  const client = {
    fetch: () => {
      controller.abort();
      return Promise.reject(new ServiceError('unavailable', 'The request was stopped.', { reason: 'aborted' }));
    },
  };
  const looking = readHostDocuments(HOST, OPTIONS, { ...context, client, signal: controller.signal });
  await expect(looking).rejects.toThrow('stopped');
});
