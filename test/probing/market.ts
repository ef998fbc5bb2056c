import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type GuardedClientOptions, openGuardedClient } from '../../src/fetching/client.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import type { ProbedRoute } from '../../src/probing/probe-request.ts';
import { type ProbeOptions, probeRoute } from '../../src/probing/probe-route.ts';
import { listen } from '../fetching/outside.ts';
import { NOW } from '../records.ts';

export { sendChallenge, sendChallengeV1, sendStatus } from './sending.ts';

export interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Seller {
  url: string;
  port: number;
  /** The requests to the seller, in order. */
  asked: Asked[];
}

type Answering = (response: ServerResponse, asked: Asked) => void;

/** Opens a seller on loopback with the given answers, closed after the test. */
export async function openSeller(answer: Answering): Promise<Seller> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    asked.push(one);
    answer(response, one);
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, port, asked };
}

export function makeProbed(overrides: Partial<ProbedRoute> = {}): ProbedRoute {
  return { method: 'GET', path: '/v1/quote', example: null, input_schema: null, terms: [], ...overrides };
}

type Overrides = Partial<Omit<ProbeOptions, 'route' | 'client'>> & {
  route?: Partial<ProbedRoute>;
  client?: Partial<GuardedClientOptions>;
};

/** Probes a route at an address, with private networks allowed, a fixed clock and fixed random numbers. */
export async function probe(baseUrl: string, { route, client, ...rest }: Overrides = {}): Promise<ProbeSample> {
  const guarded = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1', ...client });
  try {
    return await probeRoute({
      client: guarded,
      baseUrl,
      route: makeProbed(route),
      timeoutMs: 5_000,
      now: () => new Date(NOW),
      random: () => 0.5,
      ...rest,
    });
  } finally {
    await guarded.close();
  }
}
