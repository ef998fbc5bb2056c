import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { IntakeRequest } from '../../src/http/intake-process.ts';
import { makeFolder } from '../builders.ts';
import { check, openIntake, openProvider } from '../intake/intake.ts';
import { encodeHeader, makeChallenge } from '../x402/challenges.ts';

const CHECKS = Number(process.env.CHECKS ?? 10_000);
const AT_ONCE = 50;
/** Hosts of the attacker: quick ones, slow ones, ones that send as much as they may, and ones that make parsers work. */
const HOSTS = 40;
const MAX_MB = 450;

it('10,000 checks of one attacker cost bounded memory and requests, and an honest provider is answered within a minute', async () => {
  const child = fork(resolve(import.meta.dirname, '../../src/intake/process.ts'), {
    execArgv: ['--max-semi-space-size=8'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const SUBMISSIONS = join(makeFolder(), 'submissions.sqlite');
  const config = readConfig({ BASE_URL: 'http://catalogue.example', ALLOW_PRIVATE_NETWORKS: 'on', SUBMISSIONS });
  child.send({ config, key: 'a key' } satisfies IntakeRequest);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const counted = new Map<string, number>();
  child.on(
    'message',
    ({ outcome }: { outcome?: string }) => outcome && counted.set(outcome, (counted.get(outcome) ?? 0) + 1),
  );

  const yaml = `openapi: 3.1.0\n${Array.from({ length: 100_000 }, (_, at) => `k${at}: {a: 1}`).join('\n')}`;
  const deep = `${'{"a":['.repeat(90_000)}`;
  const large = JSON.stringify({
    openapi: '3.1.0',
    paths: Object.fromEntries(
      Array.from({ length: 15_000 }, (_, at) => [`/v1/${at}`, { get: { 'x-payment-info': {} } }]),
    ),
  });
  const bodies = ['', yaml, deep, large, 'x'.repeat(4_000_000)];
  const hosts = await Promise.all(
    Array.from({ length: HOSTS }, (_, at) =>
      openProvider((_request, response) => {
        const answer = () => response.writeHead(200).end(bodies[at % bodies.length]);
        if (at % 8 === 7) setTimeout(answer, 9_000);
        else answer();
      }),
    ),
  );
  const honest = await openProvider((request, response) => {
    response
      .writeHead(request.url === '/v1/quote' ? 402 : 404, { 'payment-required': encodeHeader(makeChallenge()) })
      .end();
  });

  const ask = (target: string, client: string) =>
    fetch(`${url}/providers/check`, {
      ...{ method: 'POST', body: JSON.stringify({ url: target }) },
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
    });
  let begun = 0;
  let peak = 0;
  let isOver = false;
  const attack = async () => {
    while (begun < CHECKS) {
      const at = begun;
      begun += 1;
      const client = `100.${64 + (at % 64)}.${(at >> 6) % 256}.${at % 250}`;
      const host = hosts[at % HOSTS]?.origin ?? '';
      await (await ask(at % 3 === 0 ? `${host}/v1/${at}` : host, client)).arrayBuffer();
    }
  };
  const watch = async () => {
    while (!isOver) {
      peak = Math.max(
        peak,
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
      );
      await sleep(200);
    }
  };
  /** Asks every 15 seconds, and again where it is told to, as its provider would. */
  const waits: number[] = [];
  const askHonestly = async () => {
    while (!isOver && waits.length < 10) {
      const started = performance.now();
      for (;;) {
        const answer = await ask(`${honest.origin}/v1/quote`, `203.0.113.${waits.length}`);
        if (answer.status === 200) {
          expect((await answer.json()).valid).toBe(true);
          break;
        }
        await answer.arrayBuffer();
        await sleep(2_000);
      }
      waits.push(performance.now() - started);
      await sleep(5_000);
    }
  };
  const watching = watch();
  const asking = askHonestly();
  await Promise.all(Array.from({ length: AT_ONCE }, attack));
  isOver = true;
  await Promise.all([watching, asking]);

  const requests = hosts.map(({ asked }) => asked.length);
  console.log({
    counted: Object.fromEntries(counted),
    peak_mb: Math.round(peak),
    waits: waits.map(Math.round),
    requests: Math.max(...requests),
  });
  expect(waits.length).toBeGreaterThan(0);
  expect(Math.max(...waits)).toBeLessThan(60_000);
  expect(peak).toBeLessThan(MAX_MB);
  // Ten checks an hour, 64 requests each.
  expect(Math.max(...requests)).toBeLessThanOrEqual(640);
  expect(counted.get('done')).toBeLessThanOrEqual(HOSTS * 10 + waits.length);
  expect([...counted.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(CHECKS);
}, 1_800_000);

it('what a hostile host sends is over in 30 seconds, however slowly it comes', async () => {
  const intake = await openIntake();
  const drip = async (_: IncomingMessage, response: ServerResponse) => {
    for (; !response.destroyed; await sleep(50)) response.write('x');
  };
  const providers = await Promise.all([
    openProvider(drip),
    openProvider(() => undefined),
    openProvider((request, response) => {
      if (request.url === '/robots.txt') response.end('User-agent: *\nCrawl-delay: 1000000\nDisallow: /private');
      else response.writeHead(302, { location: `/${Math.random()}` }).end();
    }),
  ]);
  const started = performance.now();
  const answers = await Promise.all(providers.map(({ origin }) => check(intake, { url: origin })));
  expect(answers.map(({ status, json }) => [status, json.valid])).toEqual(providers.map(() => [200, false]));
  expect(performance.now() - started).toBeLessThan(35_000);
});
