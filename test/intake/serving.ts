import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { startPostgres } from '../../scripts/postgres.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/http/server.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { writeStatement } from '../../src/views/submission.ts';
import { IDENTITY, makeFolder, NOW } from '../builders.ts';
import { startCatalogue } from '../cli/running.ts';
import { readDeployed } from '../deploy/tools.ts';
import { serveSiteFixture } from '../http/running.ts';
import { startNginxOf } from '../nginx.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { encodeHeader, makeChallenge } from '../x402/challenges.ts';
import { openIntake, openProvider } from './intake.ts';

/** Path of the provider's file on its host. */
export const FILE = '/.well-known/agent-payable.json';

/** A server that passes on to an intake, at the address that its pages name, and a way to start the prober beside them. */
export async function serveWithIntake({ count = 8 } = {}) {
  const [folder, port] = [makeFolder(), await findFreePort()];
  const settings = {
    ...{ BASE_URL: `http://127.0.0.1:${port}`, PORT: String(port), ALLOW_PRIVATE_NETWORKS: 'on' },
    ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), SUBMISSIONS: join(folder, 'submissions.sqlite') },
  };
  const intake = await openIntake({ settings: { ...settings, PORT: '0' } });
  const fixture = await makeSiteFixture(folder, { count, settings: { ...settings, INTAKE: intake.url } });
  const server = await serveSiteFixture({ fixture, written: false });
  return { ...server, intake, settings, startProber: () => startProber(settings) };
}

/**
 * Two servers of one empty catalogue in PostgreSQL behind nginx, as `balance.conf` and `compose.yaml` have them: the first one
 * checks, in a process of its own, and the second one asks it. All of it is gone after the test.
 */
export async function serveTwoBehindNginx(nginx: string) {
  await openPageCode({ onEvent: () => undefined });
  const database = await startPostgres();
  onTestFinished(() => database.close());
  const [folder, port, CATALOGUE] = [makeFolder(), await findFreePort(), await database.createDatabase('listing')];
  const settings = {
    ...{ CATALOGUE, SUBMISSIONS: join(folder, 'submissions.sqlite'), ALLOW_PRIVATE_NETWORKS: 'on' },
    ...{ BASE_URL: `http://127.0.0.1:${port}`, PORT: '0', TRUSTED_PROXIES: 'loopback' },
  };
  await (await openCatalogue(CATALOGUE, { identity: IDENTITY, at: NOW })).close();
  const serve = async (name: string, INTAKE: string) => {
    const config = readConfig({
      ...settings,
      PUBLISHED: join(folder, `${name}.sqlite`),
      SITE: join(folder, name),
      INTAKE,
    });
    const server = await startServer({ config, logger: pino({ level: 'silent' }) });
    onTestFinished(() => server.close());
    return server;
  };
  const first = await serve('first', 'on');
  const second = await serve('second', first.url);
  const configured = readDeployed('balance.conf')
    .replace('server-1:4321', new URL(first.url).host)
    .replace('server-2:4321', new URL(second.url).host);
  const front = await startNginxOf(nginx, makeFolder(), configured, { port });
  onTestFinished(front.stop);
  return { url: front.url, servers: [first, second], startProber: () => startProber(settings) };
}

/** Starts the prober as a process of its own, which is killed after the test. */
function startProber(settings: Record<string, string>) {
  const prober = startCatalogue(['probe', '--watch', '--pause', '0'], settings);
  onTestFinished(() => {
    prober.child.kill('SIGKILL');
  });
  return prober;
}

/** A provider of one paid route, whose files a test puts there. */
export async function openShop() {
  const files: Record<string, string> = {};
  const provider = await openProvider((request, response) => {
    const text = files[request.url ?? ''];
    if (text !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    else if (request.url !== '/v1/quote') response.writeHead(404).end();
    else response.writeHead(402, { 'payment-required': encodeHeader(makeChallenge()) }).end();
  });
  return { ...provider, files };
}

/** Writes the file by which the provider of a shop states its route. */
export function writeShopFile(origin: string, price_usdc = '0.01'): string {
  const routes = [{ method: 'GET', path: '/v1/quote', price_usdc }];
  return writeStatement([
    { base_url: origin, listed: true, facts: { name: new URL(origin).hostname, tagline: 'Quotes of stocks', routes } },
  ]);
}

/** Sends JSON, or reads it. */
export async function askJson(url: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, json: await answer.json() };
}
