import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { ProbeOutcome } from '../../../src/model/probe.ts';
import { makeChallenge, makeChallengeV1, makeOffer, makeOfferV1, makeSolanaOffer } from '../../x402/challenges.ts';
import { sendChallenge, sendChallengeV1, sendStatus } from '../sending.ts';

/** One behaviour of a route, and the outcome that a probe must get. */
export interface Behaviour {
  answer: (response: ServerResponse, url: URL) => void;
  outcome: ProbeOutcome;
  cause: string | null;
}

const ASKED = makeOffer();

const answers = (
  outcome: ProbeOutcome,
  cause: string | null,
  answer: (response: ServerResponse, url: URL) => void,
): Behaviour => ({ answer, outcome, cause });

const asks = (outcome: ProbeOutcome, cause: string | null, ...accepts: unknown[]) =>
  answers(outcome, cause, (response) => sendChallenge(response, makeChallenge({ accepts })));

const says = (outcome: ProbeOutcome, cause: string | null, status: number, headers: Record<string, string> = {}) =>
  answers(outcome, cause, (response) => sendStatus(response, status, headers));

/** Writes as fast as it is read, for ever. */
function sendEndless(response: ServerResponse, status: number): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const pump = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(status).on('drain', pump);
  pump();
}

/** Chunks of one byte, many in each write, for ever. */
function sendBytes(response: ServerResponse): void {
  const { socket } = response;
  const chunks = '1\r\nx\r\n'.repeat(10_000);
  const pump = () => {
    while (socket && !socket.destroyed && socket.write(chunks));
  };
  socket?.write('HTTP/1.1 402 Payment Required\r\ntransfer-encoding: chunked\r\n\r\n');
  socket?.on('drain', pump);
  pump();
}

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024));

function sendFields(response: ServerResponse): void {
  response.socket?.write(`HTTP/1.1 402 Payment Required\r\n${'a: b\r\n'.repeat(10_000)}\r\n`);
}

/** A robots.txt of 1 MB that is slow to match for a naive parser. */
export const HEAVY_ROBOTS = `User-agent: *\n${`Disallow: /*${'a*'.repeat(500)}b\n`.repeat(1_000)}`;

/** Writes something to the connection that is not HTTP. */
function sendGarbage(response: ServerResponse): void {
  response.socket?.end('220 mail.example ESMTP ready\r\n\r\n');
}

/** Every behaviour, by the name in the route's address. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  payable: asks('payable', null, ASKED),
  payable_too: asks('payable', null, ASKED, makeSolanaOffer()),
  old: answers('payable', null, (response) => sendChallengeV1(response)),
  slow: answers('payable', null, (response) => setTimeout(() => sendChallenge(response), 250)),
  moved: answers('payable', null, (response, url) =>
    sendStatus(response, 307, { location: `${url.pathname.replace('moved', 'payable')}?moved=1` }),
  ),
  dearer: asks('payable_with_changed_terms', 'amount', makeOffer({ amount: '20000' })),
  dearer_old: answers('payable_with_changed_terms', 'amount', (response) =>
    sendChallengeV1(response, makeChallengeV1({ accepts: [makeOfferV1({ maxAmountRequired: '20000' })] })),
  ),
  hangs: answers('timeout', null, () => undefined),
  half: answers('timeout', null, (response) => response.writeHead(402).write('{"x402Version":')),
  endless: answers('too_large', null, (response) => sendEndless(response, 402)),
  endless_page: answers('too_large', null, (response) => sendEndless(response, 200)),
  bytes: answers('too_large', null, sendBytes),
  unfolds: answers('too_large', null, (response) => response.writeHead(402, { 'content-encoding': 'gzip' }).end(BOMB)),
  fields: answers('too_large', null, sendFields),
  hangs_up: answers('server_error', 'disconnected', (response) => response.destroy()),
  garbage: answers('malformed', 'bad_http', sendGarbage),
  not_json: answers('malformed', 'html_page', (response) => response.writeHead(402).end('<html>pay me</html>')),
  no_offers: asks('malformed', 'no_accepts'),
  bad_amount: asks('malformed', 'bad_amount', makeOffer({ amount: '$0.01' })),
  elsewhere: asks('unsupported_network', null, makeOffer({ network: 'eip155:137' })),
  other_coin: asks('not_usdc', null, makeOffer({ asset: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb' })),
  lightning: says('auth_required', 'other_payment_scheme', 402, { 'www-authenticate': 'L402 macaroon="a"' }),
  free: says('no_402', 'answered_unpaid', 200),
  not_found: says('no_402', 'not_found', 404),
  gone: says('no_402', 'gone', 410),
  away: says('no_402', 'redirected_elsewhere', 302, { location: 'http://127.0.0.1:9/elsewhere' }),
  wrong_method: says('wrong_method', null, 405, { allow: 'POST' }),
  wants_input: says('input_rejected', 'status_400', 400),
  unprocessable: says('input_rejected', 'status_422', 422),
  wants_key: says('auth_required', 'status_401', 401),
  forbidden: says('auth_required', 'status_403', 403),
  too_often: says('rate_limited', null, 429, { 'retry-after': '0' }),
  broken: says('server_error', 'status_500', 500),
  down: says('server_error', 'status_503', 503),
};

/** What all routes of a host have in common, besides their own behaviours. */
export type HostKind = 'mixed' | 'wildcard' | 'hanging' | 'closed' | 'garbage' | 'not_tls' | 'robots' | 'heavy_robots';

/** The outcome of every route of such a host; undefined if each route decides. */
export const BY_HOST: Readonly<Record<HostKind, { outcome: ProbeOutcome; cause: string | null } | undefined>> = {
  mixed: undefined,
  heavy_robots: undefined,
  wildcard: { outcome: 'wildcard_402', cause: null },
  hanging: { outcome: 'timeout', cause: null },
  closed: { outcome: 'refused', cause: 'econnrefused' },
  garbage: { outcome: 'malformed', cause: 'bad_http' },
  not_tls: { outcome: 'tls', cause: null },
  robots: { outcome: 'internal', cause: 'robots_disallowed' },
};
