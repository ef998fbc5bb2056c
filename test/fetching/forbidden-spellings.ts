import type { RefusalReason } from '../../src/fetching/address.ts';

/** Spellings of forbidden hosts, by the reason of their refusal. */
export const FORBIDDEN_HOSTS: readonly [RefusalReason, readonly string[]][] = [
  // Loopback in every form that the URL standard reads as an IPv4 address.
  ['blocked_address', ['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '127.0.0.1.', '2130706433', '0x7f000001']],
  ['blocked_address', ['0x7f.1', '0X7F.0x0.0x0.0x1', '017700000001', '0177.0.0.1', '0177.0.0.01', '0000000177.0.0.1']],
  ['blocked_address', ['127.0.0.0x1', '0x7f.0.0.01', '127%2e0%2e0%2e1', '%31%32%37.0.0.1', '１２７.０.０.１']],
  [
    'blocked_address',
    ['①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '¹²⁷.⁰.⁰.¹', '０x７f.１'],
  ],
  // This host, this network.
  ['blocked_address', ['0', '0.0.0.0', '0x0', '00', '0x', '0.0.0.1', '0.255.255.255']],
  // Private, shared and link-local, the cloud metadata addresses among them.
  ['blocked_address', ['10.0.0.1', '10.1', '0xa000001', '167772161', '012.0.0.1', '10.255.255.255']],
  [
    'blocked_address',
    ['172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.1', '0xc0a80001', '3232235521', '0300.0250.0.1'],
  ],
  [
    'blocked_address',
    ['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169.16689662'],
  ],
  [
    'blocked_address',
    ['100.64.0.1', '100.127.255.255', '100.100.100.200', '168.63.129.16', '2822734096', '192.0.0.192'],
  ],
  // Documentation, benchmarks, protocol assignments, multicast, reserved, broadcast.
  ['blocked_address', ['192.0.0.170', '192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255']],
  ['blocked_address', ['192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1', '224.0.0.1', '239.255.255.250']],
  ['blocked_address', ['240.0.0.1', '255.255.255.255', '4294967295', '0xffffffff']],
  // IPv6: loopback, unspecified, and IPv4 carried inside (compatible, mapped, translated, NAT64, 6to4, Teredo).
  ['blocked_address', ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::]', '[::127.0.0.1]', '[::7f00:1]']],
  ['blocked_address', ['[::ffff:127.0.0.1]', '[::FFFF:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::ffff:8.8.8.8]']],
  ['blocked_address', ['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::808:808]', '[64:ff9b:1::1]']],
  ['blocked_address', ['[2002:7f00:1::]', '[2002:c0a8:1::1]', '[2001:0:7f00:1::]', '[2001::1]']],
  // IPv6: link-local, site-local, unique local, multicast, documentation, discard, unallocated.
  [
    'blocked_address',
    ['[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[fdff::1]', '[ff02::1]'],
  ],
  ['blocked_address', ['[ff0e::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[2001:2::1]', '[2001:10::1]']],
  ['blocked_address', ['[2001:20::1]', '[2620:4f:8000::1]', '[5f00::1]', '[4000::1]', '[8000::1]', '[::2]']],
  // Names with a local meaning, or of the metadata service.
  ['blocked_host', ['localhost', 'LOCALHOST', 'LocalHost.', 'localhost。', '%6cocalhost', 'ⓛocalhost', 'locaⅼhost']],
  ['blocked_host', ['foo.localhost', 'localhost.localdomain', 'ip6-localhost', 'intranet', 'db', 'printer.local']],
  [
    'blocked_host',
    ['db.internal', 'metadata.google.internal', 'metadata.goog', 'x.metadata.goog', 'metadata.tencentyun.com'],
  ],
  ['blocked_host', ['router.lan', 'nas.home', 'nas.home.arpa', '1.0.0.127.in-addr.arpa', 'wiki.corp', 'wiki.intranet']],
  ['blocked_host', ['api.test', 'api.invalid', 'hidden.onion', 'hidden.alt', 'host.private', 'smtp.mail']],
  // Not a host, although another parser may read it as one.
  ['bad_url', ['256.0.0.1', '127.0.0.1.5', '4294967296', '0x100000000', '1.2.3.0y', '127.0.0.1..', '09.0.0.1x']],
  ['bad_url', ['[::1', '::1', '[::1%25lo]', '[fe80::1%25eth0]', '[fe80::1%eth0]', '[127.0.0.1]', '[::ffff:0x7f.1]']],
  [
    'bad_url',
    ['a..provider.example', '.provider.example', '-a.provider.example', 'a-.provider.example', '*.provider.example'],
  ],
  [
    'bad_url',
    ['a!b.provider.example', 'provider.example%00', '127.0.0.1%20', '%0d%0a127.0.0.1', `${'a'.repeat(64)}.example`],
  ],
  [
    'bad_url',
    [
      'loc\u00adalhost',
      '127.0.0\u200b.1',
      '\u202e1.0.0.721',
      '127.0.\t0.1',
      '127.0.0\n.1',
      '127.0.0.1\u0000',
      ' 127.0.0.1',
    ],
  ],
  // Somebody else's name in front of the real host.
  ['userinfo', ['provider.example@127.0.0.1', 'provider.example:443@127.0.0.1', 'user:secret@provider.example']],
  ['userinfo', ['@127.0.0.1', ':@127.0.0.1', 'a@b@127.0.0.1', '127.0.0.1%40@provider.example']],
];

/** Whole addresses that are refused for their form; `{port}` is replaced by the port of the listener. */
export const FORBIDDEN_ADDRESSES: readonly [RefusalReason, string][] = [
  ['not_https', 'http://127.0.0.1:{port}/'],
  ['not_https', 'http://provider.example:{port}/'],
  ['not_https', 'HTTP://provider.example:{port}/'],
  ['userinfo', 'http://127.0.0.1:{port}@provider.example/'],
  ['bad_url', 'https:127.0.0.1:{port}/'],
  ['bad_url', 'https:/127.0.0.1:{port}/'],
  ['bad_url', 'https:///127.0.0.1:{port}/'],
  ['bad_url', '//127.0.0.1:{port}/'],
  ['bad_url', '127.0.0.1:{port}/'],
  ['bad_url', 'https:\\\\127.0.0.1:{port}/'],
  ['bad_url', 'https://provider.example\\@127.0.0.1:{port}/'],
  ['bad_url', 'https://provider.example/a b'],
  ['bad_url', ' https://127.0.0.1:{port}/'],
  ['bad_url', 'ht\ntps://127.0.0.1:{port}/'],
  ['bad_url', 'https://127.0.0.1:{port}/\u0000'],
  ['bad_url', 'https://provider.example:{port}0000/'],
  ['bad_url', 'https://provider.example:-1/'],
  ['bad_url', 'https://'],
  ['bad_url', 'https://?127.0.0.1:{port}'],
  ['bad_url', ''],
  ['bad_url', 'ftp://127.0.0.1:{port}/'],
  ['bad_url', 'file:///etc/passwd'],
  ['bad_url', 'gopher://127.0.0.1:{port}/_GET'],
  ['bad_url', 'ws://127.0.0.1:{port}/'],
  ['bad_url', 'unix:/var/run/docker.sock'],
  ['bad_url', 'data:text/plain,hello'],
  ['bad_url', 'blob:https://127.0.0.1:{port}/1'],
  ['bad_url', 'view-source:https://127.0.0.1:{port}/'],
  ['bad_url', `https://provider.example:{port}/${'a'.repeat(2048)}`],
  ['blocked_port', 'https://provider.example:22/'],
  ['blocked_port', 'https://provider.example:25/'],
  ['blocked_port', 'https://provider.example:0/'],
  ['blocked_port', 'https://provider.example:00021/'],
];
