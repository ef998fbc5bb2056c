import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { TEXT_TOOLS } from '../../scripts/market/providers/text-tools.ts';
import { HAS_POSTGRES, startPostgres } from '../../scripts/postgres.ts';
import { createApp } from '../../src/http/app.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { openReading } from '../../src/published/reading.ts';
import { makeFolder } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { SITE } from '../site.ts';

let market: Market;
beforeAll(async () => {
  market = await startMarket({ solana: false, plans: [TEXT_TOOLS] });
});
afterAll(() => market.stop());

async function openDatabase(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  return await server.createDatabase('flow');
}

it.each(['sqlite', ...(HAS_POSTGRES ? ['postgres'] : [])])(
  'a feed is imported, probed, paid for, published and served from a catalogue in %s',
  async (engine) => {
    const CATALOGUE = engine === 'sqlite' ? join(makeFolder(), 'catalogue.sqlite') : await openDatabase();
    const settings = { CATALOGUE, ALLOW_PRIVATE_NETWORKS: 'on' };
    const getNow = () => new Date();
    const operator = makeCommands(settings, getNow);
    expect((await operator.runJson('import', '--bazaar', market.feedUrl)).json).toMatchObject({ complete: true });
    expect((await operator.runJson('probe', '--all', '--pause', '0')).json).toMatchObject({ complete: true });
    const [listing] = (await operator.runJson('list')).json.listings;

    const key = generatePrivateKey();
    await market.base.fund(privateKeyToAddress(key), 1_000_000n);
    const wallet = { EVM_RPC_URL: market.base.rpcUrl, PAYER_EVM_PRIVATE_KEY: key };
    const payer = makeCommands({ ...settings, ...wallet }, getNow);
    const verified = await payer.runJson('verify', '--due', '--budget', '0.5');
    expect(verified.json.routes).toContainEqual(expect.objectContaining({ slug: listing.slug, outcome: 'verified' }));

    const publishedFile = join(makeFolder(), 'published.sqlite');
    await publishCatalogue({ catalogueAddress: CATALOGUE, publishedFile, baseUrl: SITE.baseUrl }, 'test');
    const reading = openReading(publishedFile, SITE);
    onTestFinished(() => reading.published.close());
    const app = createApp({ reading });
    const read = async (path: string) => (await app.request(path)).json();
    const shown = await read(`/agent/listings/${listing.slug}`);
    const ids = JSON.stringify(shown).match(/(?<="receipt_id":")[^"]+/g) ?? [];
    expect(ids.length).toBeGreaterThan(0);
    expect(await read(`/agent/receipts/${ids[0]}`)).toMatchObject({ receipt: { delivered: true } });
    expect((await read('/agent/list')).catalogue).toMatchObject({ live_listings: 1, settlement_verified: 1 });
  },
);
