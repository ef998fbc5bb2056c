import { createPublicKey, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { PROVIDER_FILE_PATH } from '../../src/sources/provider-file/schema.ts';
import { serveLive } from '../http/serving.ts';
import { openPages } from '../pages/site.ts';
import type { Asked, Seller } from '../probing/market.ts';
import { isRoute, type MarketCommands, makeMarketCommands } from '../probing/probing.ts';
import { sendChallenge, sendStatus } from '../probing/sending.ts';
import { openTestReading } from '../reading.ts';

/** Path of the webhooks of these tests. */
export const HOOK = '/events';

/** An event as a receiver reads it. */
export interface Received {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown> & { what: Record<string, unknown> };
}

/** Verifies a signed request as Standard Webhooks has it for ed25519, by nothing but Node. Returns its event. */
export function readEvent({ headers, body }: Pick<Asked, 'headers' | 'body'>, publicKey: string): Received {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const [version, base64 = ''] = String(signature).split(',');
  const x = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const isRight = verify(null, Buffer.from(`${id}.${timestamp}.${body}`), key, Buffer.from(base64, 'base64'));
  expect([version, isRight]).toEqual(['v1a', true]);
  return { id: String(id), ...JSON.parse(body) };
}

/** A provider on loopback: its routes, its file, and its webhook, which answers as it is told. */
export interface Provider {
  readonly seller: Seller;
  notify: unknown;
  answerRoutes: (response: ServerResponse) => void;
  answerHook: (response: ServerResponse, asked: Asked) => void;
  listHooked: () => Asked[];
}

/** Answers challenges as asked, and takes everything else. */
export function takeAll(response: ServerResponse, { body }: Asked): void {
  response.writeHead(200).end(JSON.parse(body).data.challenge ?? '');
}

/** Opens a provider that asks to be told everything, listed with some routes. */
export async function listProvider(
  { list }: Pick<MarketCommands, 'list'>,
  slug: string,
  paths = ['/v1/a'],
): Promise<Provider> {
  const state: Omit<Provider, 'seller' | 'listHooked'> = {
    notify: { webhook: HOOK },
    answerRoutes: (response) => sendChallenge(response),
    answerHook: takeAll,
  };
  const asked = () => seller.asked.at(-1) as Asked;
  const seller: Seller = await list(
    slug,
    (response, url) => {
      if (url === PROVIDER_FILE_PATH) {
        const file = {
          version: 1,
          listings: [{ listed: true }],
          ...(state.notify !== undefined && { notify: state.notify }),
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(file));
      } else if (url === HOOK) state.answerHook(response, asked());
      else if (isRoute(url)) state.answerRoutes(response);
      else sendStatus(response, 404);
    },
    paths,
  );
  return Object.assign(state, { seller, listHooked: () => seller.asked.filter(({ url }) => url === HOOK) });
}

/** Commands on a catalogue with a provider, and another that always answers, so that failures are the provider's own. */
export async function makeTold(paths?: string[]) {
  const commands = makeMarketCommands();
  const { run, setHours, file } = commands;
  const provider = await listProvider(commands, 'alpha', paths);
  await commands.list('beta', (response, url) => (isRoute(url) ? sendChallenge(response) : sendStatus(response, 404)));
  const probe = async (hours: number, ...slugs: string[]) => {
    setHours(hours);
    const ran = await run(['probe', ...slugs, '--pause', '0']);
    expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('could not be written')]);
    return ran;
  };
  /** Asks for a document as readers get it now. */
  const askJson = async (path: string) => {
    const { get, reading } = await serveLive({ address: file });
    const answer = await get(path);
    reading.close();
    return JSON.parse(await answer.text());
  };
  /** Reads the text of a page as readers get it now. */
  const readPage = async (path: string) => {
    const reading = await openTestReading({ address: file });
    const { text } = await (await openPages(reading)).get(path);
    reading.close();
    return text;
  };
  const getKey = async (): Promise<string> => (await askJson('/.well-known/webhook-keys.json')).keys[0]?.key ?? '';
  return {
    ...commands,
    provider,
    /** Probes every listing at an hour. */
    probeAll: (hours: number) => probe(hours, 'alpha', 'beta'),
    /** Probes what is due at an hour, and sends what is due. */
    probeDue: (hours: number) => probe(hours),
    probe,
    askJson,
    readPage,
    getKey,
    /** Lists the events that the webhook got, each verified. */
    listEvents: async () => {
      const key = await getKey();
      return provider.listHooked().map((one) => readEvent(one, key));
    },
  };
}
