import { describe, expect, it } from 'vitest';
import { getSourceName, isWebAddress } from '../../src/sources/source-name.ts';

describe('the name of a source', () => {
  it.each([
    ['/home/somebody/feeds/bazaar.json', 'bazaar.json'],
    ['data/listings/tides.yaml', 'tides.yaml'],
    ['./tides.yaml', 'tides.yaml'],
    ['C:\\feeds\\bazaar.json', 'bazaar.json'],
    ['data/listings/', 'listings'],
    ['/', 'file'],
    ['evil\u202Elmay.json', 'evillmay.json'],
  ])('is the base name of the file %j', (path, name) => {
    expect(getSourceName(path)).toBe(name);
  });

  it.each([
    ['https://feed.example/discovery/resources', 'https://feed.example/discovery/resources'],
    ['https://feed.example/r?type=http&limit=5&offset=9', 'https://feed.example/r?type=http'],
    ['https://feed.example/r?b=2&a=1', 'https://feed.example/r?a=1&b=2'],
    ['https://me:secret@feed.example/r?api_key=k&access_token=t', 'https://feed.example/r'],
  ])('is the address %j without paging and secrets', (address, name) => {
    expect(getSourceName(address)).toBe(name);
  });

  it('tells addresses from files', () => {
    expect(isWebAddress('HTTPS://feed.example')).toBe(true);
    expect(isWebAddress('https.json')).toBe(false);
  });
});
