import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { fetchRobots, parseRobots } from '../../src/probing/robots.ts';
import { openSeller } from './market.ts';

const HOST = 'https://api.example';

/** Lists the paths that a robots.txt allows. */
function listAllowed(text: string, paths: readonly string[]): string[] {
  const robots = parseRobots(text);
  return paths.filter((path) => robots.findForbidding(`${HOST}${path}`) === undefined);
}

const forEverybody = (...rules: string[]) => `User-agent: *\n${rules.join('\n')}\n`;

describe('rules of a robots.txt', () => {
  it.each([
    // RFC 9309 section 2.2.2 and 2.2.3, and the table of examples in Google's documentation of the same rules.
    ['Disallow: /fish', ['/fish', '/fish.html', '/fish/salmon', '/fish?id=1'], ['/Fish', '/catfish', '/desert/fish']],
    ['Disallow: /fish*', ['/fish', '/fisheries'], ['/Fish', '/catfish']],
    ['Disallow: /fish/', ['/fish/', '/fish/salmon'], ['/fish', '/fish.html', '/animals/fish/']],
    ['Disallow: /*.php', ['/a.php', '/x/a.php?b', '/a.php.x'], ['/', '/windows.PHP']],
    ['Disallow: /*.php$', ['/a.php', '/x/a.php'], ['/a.php?b', '/a.php/', '/a.php5']],
    ['Disallow: /fish*.php', ['/fish.php', '/fishheads/catfish.php?p'], ['/Fish.PHP', '/fis.php']],
    ['Disallow: /$', ['/'], ['/a', '/a$']],
    ['Disallow: /a*b*c$', ['/abc', '/axbxc', '/abcbc'], ['/acb', '/abcd', '/ac']],
    ['Disallow: /*ab*ab$', ['/abab', '/xab-ab'], ['/ab', '/aab']],
    ['Disallow: /a%3cd.html', ['/a%3Cd.html', '/a%3cd.html'], ['/acd.html']],
    ['Disallow: /a%62c', ['/abc', '/a%62c'], ['/abd']],
    ['Disallow: /ツ', ['/%E3%83%84', '/ツ/a'], ['/%E3%83']],
    ['Disallow: /a%2Fb', ['/a%2fb'], ['/a/b']],
    ['Disallow:', [], ['/', '/a']],
    ['Disallow: fish', [], ['/fish', '/']],
    ['Disallow: *', ['/', '/a'], []],
  ])('%s', (rule, forbidden, allowed) => {
    expect(listAllowed(forEverybody(rule), [...forbidden, ...allowed])).toEqual(allowed);
  });

  it.each([
    [['Allow: /p', 'Disallow: /'], '/page', true],
    [['Allow: /folder', 'Disallow: /folder'], '/folder/page', true],
    [['Allow: /page', 'Disallow: /*.htm'], '/page.htm', false],
    [['Allow: /$', 'Disallow: /'], '/', true],
    [['Allow: /$', 'Disallow: /'], '/page.htm', false],
    [['Disallow: /', 'Allow: /v1/*/quote'], '/v1/eth/quote', true],
  ])('%j: %s; the longest decides, and of equal ones the one that allows', (rules, path, isAllowed) => {
    expect(listAllowed(forEverybody(...rules), [path])).toEqual(isAllowed ? [path] : []);
  });

  it.each([
    ['for us by name alone', 'User-agent: *\nDisallow: /\n\nUser-agent: Agent-Payable-APIs/2.0\nDisallow: /b', ['/a']],
    [
      'of all groups that name us',
      'User-agent: agent-payable-apis\nDisallow: /a\n\nuser-agent : agent-payable-apis # us\nDISALLOW:/b',
      [],
    ],
    [
      'of a group with several names',
      'User-agent: other\nUser-agent: agent-payable-apis\nSitemap: x\nDisallow: /a',
      ['/b'],
    ],
    [
      'of others not',
      'User-agent: agent-payable\nDisallow: /\nUser-agent: agent-payable-apis-two\nDisallow: /',
      ['/a', '/b'],
    ],
    ['before any name not', 'Disallow: /\nUser-agent: *\nDisallow: /b', ['/a']],
    ['after blank lines, and lines ended by CR', 'User-agent: *\r\rDisallow: /a\r\r\rDisallow: /b', []],
    ['of a web page not', '<!doctype html><title>Disallow: /</title>', ['/a', '/b']],
  ])('hold %s', (_whose, text, allowed) => {
    expect(listAllowed(text, ['/a', '/b'])).toEqual(allowed);
  });

  it('name the forbidding rule', () => {
    const robots = parseRobots(forEverybody('Disallow: /a', 'Disallow: /a/b*c', 'Crawl-delay: 1.5'));
    expect([robots.findForbidding(`${HOST}/a/b/c`), robots.delayMs, robots.unread]).toEqual(['/a/b*c', 1_500, []]);
  });

  it.each(['-1', 'NaN', '1e999', 'soon', ''])('ask for a pause that can be kept: %s', (delay) => {
    expect([0, 30_000]).toContain(parseRobots(forEverybody(`Crawl-delay: ${delay}`)).delayMs);
  });
});

describe('a robots.txt that is meant to cost us time', () => {
  const KIB = 1024;
  const fill = (line: (index: number) => string) => {
    let text = 'User-agent: *\n';
    for (let index = 0; text.length < 500 * KIB; index += 1) text += `Disallow: ${line(index)}\n`;
    return text;
  };
  const files: Record<string, string> = {
    'wildcards by the thousand': fill(() => `/${'*a'.repeat(1_000)}b`),
    'wildcards in short rules': fill(() => `/${'*a'.repeat(15)}*b`),
    'one-letter rules': fill(() => '/*b'),
    'long parts that nearly match': fill((index) => `/*${'a'.repeat(900 + (index % 90))}b`),
    'long parts that match but for their beginning': fill(() => `/*b${'a'.repeat(1_000)}`),
    'parts of parts': fill(() => `/*${'a'.repeat(30)}*${'ab'.repeat(20)}*${'aab'.repeat(300)}$`),
    'names without end': 'User-agent: *\n'.repeat(36_000),
    'nothing but new lines': '\n'.repeat(500 * KIB),
    'no new line': `User-agent: *${' '.repeat(250 * KIB)}:${'a:'.repeat(100 * KIB)}`,
    'percent signs': fill(() => `/${'%6'.repeat(500)}%`),
  };
  /** The longest possible address, which is the worst case for most of these. */
  const longest = `${HOST}/${'a'.repeat(2_000)}`;

  it.each(Object.keys(files))('takes little time: %s', (name) => {
    const began = process.cpuUsage();
    const robots = parseRobots(files[name] ?? '');
    for (let check = 0; check < 10; check += 1) expect(robots.findForbidding(longest)).toBeUndefined();
    const { user, system } = process.cpuUsage(began);
    // Ten checks; one alone took 1.3 s with patterns as regular expressions.
    expect((user + system) / 1e6).toBeLessThan(1.3);
  });

  it('names its unread parts, and applies otherwise', () => {
    const many = forEverybody(...Array.from({ length: 2_001 }, (_, index) => `Disallow: /${index}/`));
    expect(parseRobots(many).unread).toEqual(['beyond_2000_rules']);
    expect(listAllowed(many, ['/1999/', '/2000/'])).toEqual(['/2000/']);
    const wild = forEverybody(`Disallow: /${'a*'.repeat(17)}`, `Disallow: /b${'*b'.repeat(16)}`);
    expect(parseRobots(wild).unread).toEqual(['rules_over_16_wildcards']);
    expect(listAllowed(wild, [`/${'a'.repeat(17)}`, `/${'b'.repeat(17)}`])).toEqual([`/${'a'.repeat(17)}`]);
    const long = forEverybody(`Disallow: /${'a'.repeat(2_048)}`, 'Disallow: /b');
    expect(parseRobots(long).unread).toEqual(['rules_over_2048_characters']);
    expect(listAllowed(long, ['/b'])).toEqual([]);
  });
});

describe('a robots.txt of more than 500 KiB', () => {
  const LONG = `${forEverybody('Disallow: /a')}${'# nothing to say\n'.repeat(40_000)}Disallow: /b\n`;

  it.each([
    ['plain', (text: string) => ({ body: Buffer.from(text), headers: {} })],
    [
      'with its length',
      (text: string) => ({ body: Buffer.from(text), headers: { 'content-length': String(text.length) } }),
    ],
    ['compressed', (text: string) => ({ body: gzipSync(text), headers: { 'content-encoding': 'gzip' } })],
  ])('is read up to that size, in whole lines: %s', async (_how, pack) => {
    const { body, headers } = pack(LONG);
    const seller = await openSeller((response) => response.writeHead(200, headers).end(body));
    const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
    const text = await fetchRobots(client, seller.url, { timeoutMs: 5_000, signal: new AbortController().signal });
    await client.close();
    expect(text?.length).toBeLessThan(500 * 1024 + 100);
    expect(
      text
        ?.split('\n')
        .slice(2, -1)
        .every((line) => line === '# nothing to say'),
    ).toBe(true);
    expect(parseRobots(text ?? '').unread).toEqual(['beyond_500_kib']);
    expect(listAllowed(text ?? '', ['/a', '/b'])).toEqual(['/b']);
  });
});
