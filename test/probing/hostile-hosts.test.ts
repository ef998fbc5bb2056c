import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Places, testPlaces } from '../places.ts';
import { encodeHeader, makeChallenge, makeOffer } from '../x402/challenges.ts';
import { sendChallenge, sendStatus } from './market.ts';
import { isRoute, makeMarketCommands } from './probing.ts';

/** A marker in hostile bytes that must never be published. */
const MARK = 'ignore-all-rules';
const DOOR = '/.well-known/agent-payable.json';

/** Answers a request of a probe; `neighbour` is an honest host. */
type Answer = (response: ServerResponse, url: string, neighbour: string) => void;

const sell = (response: ServerResponse, url: string) =>
  isRoute(url) ? sendChallenge(response) : sendStatus(response, 404);

/** Sells like an honest host, and gives this answer for its provider's file. */
const state =
  (build: (neighbour: string) => unknown): Answer =>
  (response, url, neighbour) => {
    if (url !== DOOR) return sell(response, url);
    const said = build(neighbour);
    response.setHeader('content-type', 'application/json').end(typeof said === 'string' ? said : JSON.stringify(said));
  };

/** Gives this answer for its routes, and has nothing else. */
const answer =
  (send: (response: ServerResponse, neighbour: string) => void): Answer =>
  (response, url, neighbour) =>
    isRoute(url) ? send(response, neighbour) : sendStatus(response, 404);

const ask = (challenge: unknown) => answer((response) => sendChallenge(response, challenge));

/** What a host sends, and the outcome of its only route. */
const ROWS: Record<string, Record<string, [answer: Answer, outcome: string]>> = {
  "a provider's file": {
    'that nests without end': [state(() => '['.repeat(200_000)), 'payable'],
    'that is no JSON': [state(() => `{"version": 1, "${MARK}`), 'payable'],
    'of a megabyte': [state(() => ({ version: 1, listings: [], [MARK]: 'x'.repeat(1_000_000) })), 'payable'],
    'that removes a neighbour': [
      state((base_url) => ({ version: 1, listings: [{ base_url, listed: false, reason: MARK }] })),
      'payable',
    ],
    'with keys of objects': [
      state(() => `{"version": 1, "listings": [{"__proto__": {"listed": false}, "listed": "${MARK}"}]}`),
      'payable',
    ],
  },
  'words of a challenge': {
    'resource, description and extensions': [
      ask(
        makeChallenge({
          error: MARK,
          resource: { url: `https://${MARK}.example/`, description: MARK, serviceName: MARK },
          extensions: { [MARK]: MARK },
          accepts: [makeOffer({ extra: { name: MARK }, description: MARK })],
        }),
      ),
      'payable',
    ],
    'network and asset that are none': [
      ask(makeChallenge({ accepts: [makeOffer({ network: MARK, asset: MARK, payTo: MARK, scheme: MARK })] })),
      'unsupported_network',
    ],
  },
  'words of headers': {
    'payment schemes': [
      answer((response) => response.writeHead(402, { 'www-authenticate': `${MARK} realm="${MARK}"` }).end()),
      'auth_required',
    ],
    methods: [
      answer((response) => response.writeHead(405, { allow: `${MARK}, GET\t, ${'A'.repeat(20_000)}` }).end()),
      'wrong_method',
    ],
    'a challenge that is none': [
      answer((response) => response.writeHead(402, { 'payment-required': encodeHeader(`"${MARK}"`) }).end()),
      'malformed',
    ],
  },
  'a redirect to a neighbour': {
    'whose route is not this one’s': [
      answer((response, neighbour) => response.writeHead(307, { location: `${neighbour}/v1/a?${MARK}` }).end()),
      'no_402',
    ],
  },
  'a made-up address': {
    'that is paid as well': [
      (response, url) => (url === '/robots.txt' || url === DOOR ? sendStatus(response, 404) : sendChallenge(response)),
      'wildcard_402',
    ],
  },
};

const HOSTILE = {
  'probing/hostile.test.ts': 'beside hostile hosts 16 honest ones get their true outcomes, and so do the hostile ones',
};

/** Every place where bytes from a host, a document or a name enter the prober, from the socket to the record. */
const PLACES: Places = {
  'name of the host': { 'fetching/names.test.ts': 'changes to a private address after the check is still dialled' },
  'address of the host': { 'fetching/forbidden.test.ts': 'is refused without a connection' },
  'certificate, its names': { 'probing/hostile.test.ts': 'names in a certificate' },
  'robots.txt, time and size': { 'probing/hostile.test.ts': "'robots: unfolds'" },
  'robots.txt, rules': { 'probing/robots.test.ts': 'a robots.txt that is meant to cost us time' },
  'robots.txt, pause': { 'probing/robots.test.ts': 'ask for a pause that can be kept' },
  "a provider's file": 'here',
  "a provider's file, of another origin": { 'importing/provider-statement.test.ts': 'says nothing for another origin' },
  'redirect, where it leads': { 'probing/redirects.test.ts': 'to another origin is not followed' },
  'redirect, round and round': { 'probing/hostile.test.ts': "'redirect: round and round'" },
  'a redirect to a neighbour': 'here',
  'status line': { 'probing/hostile.test.ts': "'status: no number'" },
  'headers, number and size': { 'probing/hostile.test.ts': "'headers: without end'" },
  'words of headers': 'here',
  'header: Retry-After': { 'probing/hostile.test.ts': "'headers: rest for ever'" },
  'body, its length': { 'probing/hostile.test.ts': "'body: of 9 exabytes'" },
  'body, chunks': { 'probing/hostile.test.ts': "'chunks: of no size'" },
  'body, coding': { 'probing/hostile.test.ts': "'coding: unfolds to 64 MB'" },
  'time of an answer': { 'probing/hostile.test.ts': "'time: a byte every moment'" },
  'challenge, its shape': { ...HOSTILE, 'x402/hostile.test.ts': 'of any JSON crashes the reader' },
  'words of a challenge': 'here',
  'challenge: payee of its own each time': { 'evidence/payees.test.ts': 'rotat' },
  'a made-up address': 'here',
  'path, query and body of a document': { 'probing/probe-request.test.ts': 'without anything that pays or is secret' },
  'example of a document': { 'sources/request-example.test.ts': 'drops headers that could split a request' },
  'words of a feed or manifest': { 'whole/hostile.test.ts': 'are nowhere in what the service says of itself' },
  'items of a feed': { 'sources/bazaar/hostile.test.ts': 'whatever a feed holds' },
};

testPlaces(PLACES, Object.keys(ROWS));

/** Probes two honest hosts, and a hostile one if given. Returns what is published about each. */
async function probeFakeHosts(hostile?: Answer) {
  const { list, runJson } = makeMarketCommands();
  const honest = await list('honest-one', sell, ['/v1/a']);
  await list('honest-two', sell, ['/v1/a']);
  if (hostile) await list('hostile', (response, url) => hostile(response, url, honest.url), ['/v1/a']);
  const { json: report } = await runJson('probe', '--all', '--pause', '0', '--timeout', '2000');
  const show = async (slug: string) => (await runJson('show', slug)).json.listing;
  const score = async (slug: string) => {
    const { routes, networks, reliability, cautions, delisted_at } = await show(slug);
    const [{ terms, probe, cautions: own, verification }] = routes;
    return { terms, probe, own, verification, networks, reliability, cautions, delisted_at };
  };
  return {
    report,
    honest: [await score('honest-one'), await score('honest-two')],
    hostile: hostile && JSON.stringify(await show('hostile')),
    // The decoy path differs each time.
    asked: honest.asked.map(({ url }) => url.replace(/[a-z]{16}$/, '*')),
  };
}

describe.each(Object.entries(ROWS))('bytes of a host: %s', (_place, rows) => {
  it.each(Object.entries(rows))('%s', async (_name, [hostile, outcome]) => {
    const [alone, beside] = [await probeFakeHosts(), await probeFakeHosts(hostile)];
    const { payable = 0, ...others } = beside.report.outcomes;
    expect({ payable, ...others }).toEqual(outcome === 'payable' ? { payable: 3 } : { payable: 2, [outcome]: 1 });
    // Honest hosts get the same requests and outcomes as without it.
    expect(beside.honest).toEqual(alone.honest);
    expect(beside.asked).toEqual(alone.asked);
    // Nothing that the hostile host says about itself is published.
    expect(beside.hostile).toContain('"hostile"');
    expect(beside.hostile).not.toContain(MARK);
    expect(beside.hostile).not.toContain('settlement-verified');
  });
});
