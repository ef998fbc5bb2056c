import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { probeSample } from '../../src/model/probe.ts';
import { buildCertificate } from '../fetching/certificate.ts';
import { listen } from '../fetching/outside.ts';
import { startProcessorTime } from '../processor-time.ts';
import { encodeHeader, makeChallenge, makeOffer } from '../x402/challenges.ts';
import { sendChallenge } from './market.ts';
import { makeStore, openFakeHosts, run } from './runs.ts';

/** Writes any bytes to the connection, in answer to one request. */
type Attack = (socket: Socket, path: string) => void;

/** Writes as fast as it is read, until the other side stops. */
function pour(socket: Socket, head: string, part: Buffer | string): void {
  const pump = () => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.write(head);
  socket.on('drain', pump);
  pump();
}

/** Writes a little at intervals, until the other side stops. */
function trickle(socket: Socket, head: string, part: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(part), 20);
  socket.on('close', () => clearInterval(timer));
}

const HEAD = 'HTTP/1.1 402 Payment Required\r\n';
const pack = (head: string, body: Buffer | string = '') =>
  Buffer.concat([Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);
const says =
  (head: string, body?: Buffer | string): Attack =>
  (socket) =>
    socket.write(pack(head, body));
const asks = (challenge: unknown, head = HEAD): Attack =>
  says(`${head}payment-required: ${encodeHeader(challenge)}\r\n`, '{}');
const asksInBody = (text: string): Attack => says(`${HEAD}content-type: application/json\r\n`, text);

/** Gives this answer for robots.txt, and is honest otherwise. */
const ruled =
  (answer: Attack): Attack =>
  (socket, path) =>
    (path === '/robots.txt' ? answer : asks(makeChallenge()))(socket, path);

const MB = 1024 * 1024;
const RULES = `User-agent: *\n${`Disallow: /*${'a*'.repeat(500)}b\n`.repeat(1_000)}`;
const BOMB = Buffer.alloc(64 * MB);
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** A challenge of some 94 KB in its header. */
const LARGE = makeChallenge({ accepts: [makeOffer({ extra: { name: 'x'.repeat(70_000) } })] });

/** What a host sends, and the outcome and cause that a probe must get; a null cause is not compared. */
const ATTACKS: Record<string, [attack: Attack, outcome: string, cause: string | null]> = {
  'robots: 1 MB of wildcards': [ruled(says('HTTP/1.1 200 OK\r\n', RULES)), 'payable', null],
  'robots: never ends': [ruled((socket) => pour(socket, 'HTTP/1.1 200 OK\r\n\r\n', `${RULES}\n`)), 'payable', null],
  'robots: trickles': [ruled((socket) => trickle(socket, 'HTTP/1.1 200 OK\r\n\r\n', '#')), 'payable', null],
  'robots: unfolds': [ruled(says('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n', gzipSync(BOMB))), 'payable', null],
  'redirect: round and round': [says('HTTP/1.1 307 x\r\nlocation: /v1/a\r\n'), 'no_402', 'too_many_redirects'],
  'redirect: to no address': [says('HTTP/1.1 307 x\r\nlocation: http://[\r\n'), 'no_402', 'bad_redirect'],
  'redirect: to somebody else': [
    says('HTTP/1.1 307 x\r\nlocation: http://169.254.169.254/latest/meta-data\r\n'),
    'no_402',
    'redirected_elsewhere',
  ],
  'redirect: to 60 KB of path': [
    says(`HTTP/1.1 307 x\r\nlocation: /${'a'.repeat(60_000)}\r\n`),
    'blocked_address',
    'bad_url',
  ],
  'status: no number': [says('HTTP/1.1 four hundred\r\n'), 'malformed', 'bad_http'],
  'status: of six digits': [says('HTTP/1.1 402402 x\r\n'), 'malformed', 'bad_http'],
  'status: endless reason': [(socket) => pour(socket, 'HTTP/1.1 402 ', 'x'.repeat(65_536)), 'timeout', null],
  'status: endless 102': [
    (socket) => pour(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
    'too_large',
    null,
  ],
  'headers: ten thousand': [says(`${HEAD}${'a: b\r\n'.repeat(10_000)}`), 'too_large', null],
  'headers: without end': [(socket) => pour(socket, HEAD, `x: ${'x'.repeat(8_000)}\r\n`), 'too_large', null],
  'headers: with NUL': [says(`${HEAD}x: a\0b\r\n`), 'malformed', 'bad_http'],
  'headers: two lengths': [says(`${HEAD}content-length: 5\r\n`, 'x'), 'malformed', 'bad_http'],
  'headers: no payment scheme': [says(`${HEAD}www-authenticate: ${', '.repeat(30_000)}\r\n`), 'malformed', null],
  'headers: rest for ever': [says('HTTP/1.1 429 x\r\nretry-after: 99999999999999999999\r\n'), 'rate_limited', null],
  'headers: a challenge of 94 KB': [asks(LARGE), 'too_large', 'header_too_large'],
  'body: without end': [(socket) => pour(socket, `${HEAD}\r\n`, Buffer.alloc(65_536, 'x')), 'too_large', null],
  'body: shorter than it says': [
    (socket) => socket.end(`${HEAD}content-length: 10\r\n\r\nx`),
    'server_error',
    'disconnected',
  ],
  'body: of 9 exabytes': [
    (socket) => socket.write(`${HEAD}content-length: 9223372036854775807\r\n\r\nx`),
    'too_large',
    null,
  ],
  'chunks: of one byte without end': [
    (socket) => pour(socket, `${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n'.repeat(10_000)),
    'too_large',
    null,
  ],
  'chunks: of no size': [
    (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n`),
    'malformed',
    'bad_http',
  ],
  'chunks: of more than a number holds': [
    (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\nfffffffffffffffffff\r\nx`),
    'malformed',
    'bad_http',
  ],
  'coding: unfolds to 64 MB': [
    says(`${HEAD}content-encoding: br\r\n`, brotliCompressSync(BOMB, QUICKLY)),
    'too_large',
    null,
  ],
  'coding: is none': [says(`${HEAD}content-encoding: gzip\r\n`, 'no gzip'), 'malformed', 'bad_http'],
  'coding: fifty of them': [says(`${HEAD}content-encoding: ${'gzip,'.repeat(50)}\r\n`, 'x'), 'malformed', 'bad_http'],
  'time: a header every moment': [(socket) => trickle(socket, HEAD, 'x: y\r\n'), 'timeout', null],
  'time: a byte every moment': [(socket) => trickle(socket, `${HEAD}\r\n`, ' '), 'timeout', null],
  'challenge: nested without end': [asksInBody('['.repeat(50_000)), 'malformed', null],
  'challenge: one long number': [asksInBody(`{"x402Version":${'1'.repeat(50_000)}}`), 'malformed', null],
  'challenge: keys of objects': [
    asksInBody('{"__proto__":{"x402Version":1},"constructor":1,"accepts":{"length":-1}}'),
    'malformed',
    null,
  ],
  'challenge: hundreds of offers': [
    asksInBody(JSON.stringify(makeChallenge({ accepts: Array(150).fill(makeOffer()) }))),
    'malformed',
    'too_many_offers',
  ],
  'challenge: not base64': [says(`${HEAD}payment-required: ${'%'.repeat(10_000)}\r\n`), 'malformed', null],
};

async function openHostile(attack: Attack): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => attack(socket, /^\w+ (\S+)/.exec(String(data))?.[1] ?? ''));
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return `http://127.0.0.1:${port}`;
}

/** Probes a route of 16 honest hosts and of each hostile one. Checks the honest samples and returns the others. */
async function probeAllBesideHonest(hostile: readonly string[]) {
  const fakeHosts = await openFakeHosts(16, (response) => sendChallenge(response), { delayMs: 100 });
  const store = makeStore(['/v1/a']);
  const getWork = startProcessorTime();
  await run({ hosts: [...hostile, ...fakeHosts.hosts] }, store, { atOnce: 32, timeoutMs: 1_500 });
  const worked = getWork();
  const honest = store.samples.filter(({ key }) => !hostile.some((host) => key.startsWith(host)));
  expect(honest.map(({ outcome }) => outcome)).toEqual(Array(16).fill('payable'));
  const samples = hostile.map((host) => {
    const { key: _key, ...sample } = store.samples.find(({ key }) => key.startsWith(host)) ?? { key: '' };
    // The sample stays small, whatever came.
    expect(JSON.stringify(sample).length).toBeLessThan(10_000);
    return probeSample.parse(sample);
  });
  return { samples, worked };
}

async function probeBesideHonest(hostile: string) {
  const { samples, worked } = await probeAllBesideHonest([hostile]);
  const [sample] = samples;
  if (!sample) throw new Error('no sample');
  return { sample, worked };
}

describe('beside hostile hosts 16 honest ones get their true outcomes, and so do the hostile ones', () => {
  it.each([...Map.groupBy(Object.entries(ATTACKS), ([name]) => name.split(':')[0])])('%s', async (_kind, attacks) => {
    const hosts = await Promise.all(attacks.map(([, [attack]]) => openHostile(attack)));
    const { samples } = await probeAllBesideHonest(hosts);
    const expected = attacks.map(([name, [, outcome, cause]]) => [name, outcome, cause]);
    const found = samples.map(({ outcome, cause }, index) => {
      const [name, [, , known] = []] = attacks[index] ?? [];
      return [name, outcome, known === null ? null : cause];
    });
    expect(found).toEqual(expected);
  });

  it('names in a certificate', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `ignore-all-rules-${index}.\u0000.example`);
    const server = createTlsServer(buildCertificate({ names }), (socket) => socket.destroy());
    server.on('tlsClientError', () => undefined);
    const { port, close } = await listen(server);
    onTestFinished(close);
    const { sample } = await probeBesideHonest(`https://127.0.0.1:${port}`);
    expect(sample).toMatchObject({ outcome: 'tls', status: null });
    expect(JSON.stringify(sample)).not.toContain('ignore-all-rules');
  });
});

it('a challenge in a header that common clients refuse is not payable', async () => {
  const { sample } = await probeBesideHonest(await openHostile(asks(LARGE)));
  expect(sample).toMatchObject({ outcome: 'too_large', cause: 'header_too_large', terms: [] });
  const small = await probeBesideHonest(await openHostile(asks(makeChallenge())));
  expect(small.sample.detail).not.toHaveProperty('flaws');
});

it('a robots.txt with 1 MB of wildcards delays nobody', async () => {
  const { sample, worked } = await probeBesideHonest(await openHostile(ruled(says('HTTP/1.1 200 OK\r\n', RULES))));
  expect(sample.detail).toMatchObject({ robots_unread: ['beyond_500_kib', 'rules_over_16_wildcards'] });
  // One check alone took 1.3 s.
  expect(worked).toBeLessThan(1_300);
});
