import { createRequire } from 'node:module';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { findAddressProblem, parseOutsideUrl } from '../../src/fetching/address.ts';

const PUBLIC = { allowPrivateNetworks: false };
const PRIVATE = { allowPrivateNetworks: true };

function parse(text: string, options = PUBLIC): string {
  const parsed = parseOutsideUrl(text, options);
  return parsed instanceof URL ? parsed.href : parsed.reason;
}

describe('an outside address', () => {
  it.each([
    ['https://api.example.com/v1?x=1', 'https://api.example.com/v1?x=1'],
    ['HTTPS://API.Example.COM', 'https://api.example.com/'],
    ['https://api.example.com:443/', 'https://api.example.com/'],
    ['https://api.example.com:8443/', 'https://api.example.com:8443/'],
    ['https://api.example.com./v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1#part', 'https://api.example.com/v1'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['https://my_app.hosting.example/', 'https://my_app.hosting.example/'],
    ['https://provider.example/mail@home', 'https://provider.example/mail@home'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://10.0.0.1.nip.example/', 'https://10.0.0.1.nip.example/'],
    ['https://172.32.0.1/', 'https://172.32.0.1/'],
    ['https://100.128.0.1/', 'https://100.128.0.1/'],
  ])('is allowed if it is public: %s', (text, href) => {
    expect(parse(text)).toBe(href);
  });

  it.each([
    ['http://localhost:8080/', 'http://localhost:8080/'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/'],
    ['http://[::1]/', 'http://[::1]/'],
    ['http://192.168.1.5/', 'http://192.168.1.5/'],
    ['http://[fd00::2]/', 'http://[fd00::2]/'],
    ['http://provider:3000/', 'http://provider:3000/'],
    ['https://shop.test/', 'https://shop.test/'],
    ['http://169.254.169.254/', 'blocked_address'],
    ['http://168.63.129.16/', 'blocked_address'],
    ['http://100.100.100.200/', 'blocked_address'],
    ['http://100.100.100.201/', 'http://100.100.100.201/'],
    ['http://[fd00:ec2::254]/', 'blocked_address'],
    ['http://[fd00:0ec2:0:0::0254]/', 'blocked_address'],
    ['http://[fd20:ce::254]/', 'blocked_address'],
    ['http://instance-data.ec2.internal/', 'blocked_host'],
    ['http://[::ffff:127.0.0.1]/', 'blocked_address'],
    ['http://0.0.0.0/', 'blocked_address'],
    ['http://metadata.google.internal/', 'blocked_host'],
    ['http://localhost:22/', 'blocked_port'],
    ['http://user@localhost/', 'userinfo'],
    ['ftp://localhost/', 'bad_url'],
  ])('may be local if private networks are allowed, except metadata services: %s', (text, outcome) => {
    expect(parse(text, PRIVATE)).toBe(outcome);
  });

  it('has no port that browsers block, and any other', () => {
    // The library that implements fetch for Node has the list of the standard.
    const { badPorts }: { badPorts: string[] } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js');
    const blocked = Array.from({ length: 65_536 }, (_, port) => String(port)).filter(
      (port) => parse(`https://a.example:${port}/`, PUBLIC) === 'blocked_port',
    );
    // Port 0 is no port that anybody can listen on.
    expect(blocked).toEqual(['0', ...badPorts]);
  });

  it('is refused with one sentence that quotes neither path nor password', () => {
    for (const text of [
      'https://me:hunter2@a.example/hunter2',
      'http://a.example/hunter2',
      'https://10.0.0.1/hunter2?hunter2',
    ]) {
      const refusal = parseOutsideUrl(text, PUBLIC);
      expect(refusal).not.toBeInstanceOf(URL);
      expect(JSON.stringify(refusal)).not.toContain('hunter2');
    }
  });

  it('is refused in any spelling of any address of a forbidden range', () => {
    const ranges = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'];
    ranges.push('192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4');
    const address = fc.tuple(fc.constantFrom(...ranges), fc.nat(0xffffffff)).map(([range, random]) => {
      const [network, bits] = ipaddr.IPv4.parseCIDR(range);
      return (Number(`0x${Buffer.from(network.octets).toString('hex')}`) + (random % 2 ** (32 - bits))) >>> 0;
    });
    const writePart = [(n: number) => `${n}`, (n: number) => `0x${n.toString(16)}`, (n: number) => `0${n.toString(8)}`];
    const spelling = fc.tuple(
      address,
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
    );
    fc.assert(
      fc.property(spelling, fc.constantFrom('', '.'), ([number, parts, forms], dot) => {
        const values = Array.from({ length: parts - 1 }, (_, index) => (number >>> (24 - 8 * index)) & 255);
        values.push(parts === 1 ? number : number % 2 ** (8 * (5 - parts)));
        const host = values.map((value, index) => writePart[forms[index] ?? 0]?.(value)).join('.');
        expect(parse(`https://${host}${dot}/`)).toBe('blocked_address');
      }),
      { numRuns: 2000, seed: 1 },
    );
  });

  it('has a stable result for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.string().map((rest) => `https://${rest}`),
    );
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseOutsideUrl(given, PUBLIC);
        if (parsed instanceof URL) expect(parse(parsed.href)).toBe(parsed.href);
        else expect(parsed.message).toMatch(/^The .*\.$/);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });
});

describe('an IP address', () => {
  it.each([
    ['9.255.255.255', undefined],
    ['10.0.0.0', 'private'],
    ['11.0.0.0', undefined],
    ['100.63.255.255', undefined],
    ['100.64.0.0', 'carrierGradeNat'],
    ['128.0.0.0', undefined],
    ['169.253.255.255', undefined],
    ['169.255.0.0', undefined],
    ['172.15.255.255', undefined],
    ['172.32.0.0', undefined],
    ['192.0.1.0', undefined],
    ['198.17.255.255', undefined],
    ['198.20.0.0', undefined],
    ['223.255.255.255', undefined],
    ['224.0.0.0', 'multicast'],
    ['2000::1', undefined],
    ['1fff:ffff::1', 'unallocated'],
    ['2001:200::1', undefined],
    ['2001:db7::1', undefined],
    ['2001:db9::1', undefined],
    ['2003::1', undefined],
    ['fe80::1%eth0', 'linkLocal'],
    ['::ffff:93.184.216.34', 'ipv4Mapped'],
    ['0x7f.1', 'unreadable'],
    ['010.0.0.1', 'unreadable'],
    ['', 'unreadable'],
    ['provider.example', 'unreadable'],
  ])('is judged at the borders of the registries: %s → %s', (address, problem) => {
    expect(findAddressProblem(address, PUBLIC)).toBe(problem);
  });
});
