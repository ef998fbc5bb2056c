import { describe, expect, it } from 'vitest';
import { buildTagline, getOpening, isTagline, joinOpenings } from '../../src/evidence/taglines.ts';

describe('a tagline', () => {
  it.each([
    '',
    'Tides',
    'Tide Tables',
    'TideTables!',
    'It allows you to:',
    'It allows you to: 1.',
    'This endpoint lets you',
    'Features:',
    '0.01 USDC on base',
    '0.1 USDC on base-sepolia',
    'Ping - 0.001 USDC on Base',
    '$0.01 per call',
    'https://api.tides.example/v1/height',
    'api.tides.example',
    '2b9bb5fe-8379-4b5d-b52d-21cad0f52d75',
    'Access to protected content',
    'Access to Protected Resource.',
    'Premium API Access',
    'Payment required',
    '…',
  ])('like %j says nothing', (tagline) => {
    expect(isTagline(tagline, 'Tide Tables', 'https://api.tides.example')).toBe(false);
  });

  it.each([
    'Tide heights',
    'Tide Tables: $0.01 per height of a port',
    'Buy a pixel!',
    'Edition 2.',
    '$0.01 for 30 tides of a port',
    '获取任意位置的天气',
    'Access to the tides of every port',
    'Prices below 0.01 USDC for every port',
  ])('like %j says something', (tagline) => {
    expect(isTagline(tagline, 'Tide Tables', 'https://api.tides.example')).toBe(true);
  });
});

describe('what the description of a route says first', () => {
  const get = (description: string) => getOpening(description, 'Tide Tables', 'https://api.tides.example');

  it.each([
    ['Tide heights — for every port. Returns a table.', 'Tide heights'],
    ['Look up ports (by name) of a coast.', 'Look up ports of a coast'],
    ['POST /v1/moon: Moon phases of a month; cheap', 'Moon phases of a month'],
    ['Heights: of all tides at a port', 'Heights: of all tides at a port'],
    [`Heights at a port, ${'and more, '.repeat(20)}`, 'Heights at a port'],
    ['Access to protected content', ''],
    ['Flip a verified* coin. *Nobody verified it.', ''],
    ['0.01 USDC on base', ''],
    ['', ''],
  ])('is a phrase, if it says something: %j', (description, opening) => {
    expect(get(description)).toBe(opening);
  });

  it('fits into one line with those of other routes, the long ones left out', () => {
    expect(joinOpenings(['Tide heights', 'Moon phases'])).toBe('Tide heights; Moon phases');
    const long = `Heights ${'of tides '.repeat(30)}`;
    expect(joinOpenings([long, 'Moon phases'])).toBe('Moon phases and more');
    const many = Array.from({ length: 20 }, (_, at) => `Heights of the tides at port ${at}`);
    const line = joinOpenings(many);
    expect(line).toMatch(/^Heights of the tides at port 0; .* and more$/);
    expect(line.length).toBeLessThanOrEqual(200);
    expect(joinOpenings([long]).length).toBeLessThanOrEqual(200);
  });
});

describe('the generated tagline', () => {
  const build = (...paths: string[]) => buildTagline(paths.map((path) => ({ path })));

  it.each([
    [[], ''],
    [['/v1/height'], '1 route: height'],
    [['/'], 'Nothing on record says what it does.'],
    [['/v1/api/height', '/v1/api/moon-phase'], '2 routes: height and moon phase'],
    [['/scrape', '/search', '/convert', '/moonPhase/:id'], '4 routes: scrape, search, convert and moon phase'],
    [['/a1', '/b2', '/c3', '/d4', '/e5', '/f6'], '6 routes: a1, b2, c3, d4 and more'],
    [['/sea/height', '/sea/moon?port={port}', '/sea/moon/0xabc123'], '3 routes: moon and height'],
    [['/x402/tide/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG', '/x402/tide/7'], '2 routes: tide'],
    [['/api/ping', '/resource/7'], 'Nothing on record says what it does.'],
    [['/image/generate', '/protected'], '2 routes: image generate and more'],
    [['/users/by/{name}', '/users/by'], '2 routes: users'],
  ])('names what %j do', (paths, line) => {
    expect(build(...paths)).toBe(line);
  });

  it('names subjects rather than routes where there are many of both', () => {
    const paths = ['sea', 'moon', 'sun', 'wind', 'port'].flatMap((subject, at) =>
      Array.from({ length: 6 - at }, (_, one) => `/v1/${subject}/way-${one}`),
    );
    expect(build(...paths)).toBe('20 routes: sea, moon, sun, wind and port');
  });
});
