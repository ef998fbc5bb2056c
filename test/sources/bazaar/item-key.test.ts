import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getFeedItemKey } from '../../../src/sources/bazaar/item.ts';
import { formatRawItem, getItemHash } from '../../../src/sources/feed.ts';
import { makeItem, makeOffer, makeVersion1Item } from './items.ts';

describe('the key of a raw item', () => {
  it('is method and address, however they are spelled', () => {
    const key = 'POST https://api.tides.example/v1/{id}?a=b';
    const resource = 'https://API.tides.example:443/v1/{id}?a=b#top';
    expect(getFeedItemKey(makeItem({ method: 'post', resource }))).toBe(key);
    expect(
      getFeedItemKey(makeItem({ method: 'POST', resource: { url: 'https://api.tides.example./v1/%7Bid%7D?a=b' } })),
    ).toBe(key);
    expect(getFeedItemKey(makeVersion1Item({ resource }))).toBe(key);
    expect(getFeedItemKey({ accepts: [makeOffer({ resource, method: 'POST' })] })).toBe(key);
  });

  it('is GET if no method is declared', () => {
    expect(getFeedItemKey({ resource: 'https://api.tides.example' })).toBe('GET https://api.tides.example/');
  });

  it('is a hash for anything else, the same for any order of keys', () => {
    expect(getFeedItemKey({ a: 1, b: [2] })).toBe(getFeedItemKey({ b: [2], a: 1 }));
    expect(getFeedItemKey({ a: 1 })).not.toBe(getFeedItemKey({ a: 2 }));
    expect(getFeedItemKey({ resource: 'x'.repeat(1_000_000) })).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(getFeedItemKey({ resource: 'ftp://x.example/y' })).toMatch(/^sha256:/);
  });

  it('exists for every value', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50_000)}${']}'.repeat(50_000)}`);
    for (const raw of [undefined, null, 10n, () => 1, Symbol('x'), Number.NaN, deep])
      expect(getFeedItemKey(raw)).not.toBe('');
    fc.assert(fc.property(fc.anything(), (raw) => getFeedItemKey(raw).length > 0));
  });
});

describe('the text of a raw item', () => {
  it('is its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (raw) => {
        expect(formatRawItem(raw)).toBe(JSON.stringify(raw));
        expect(getItemHash(raw)).toBe(getItemHash(JSON.parse(formatRawItem(raw))));
      }),
    );
    expect(formatRawItem(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });

  it('is cut if it is nested too deeply', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(formatRawItem(deep)).toMatch(/^\[{200}"\(nested too deeply\)"\]{200}$/);
  });
});
