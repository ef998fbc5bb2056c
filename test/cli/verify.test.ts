import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import { getRequestHash } from '../../src/model/request.ts';
import { findListingPage, findReceiptPage } from '../../src/published/page-data.ts';
import { makeTerms } from '../builders.ts';
import { serveLive } from '../http/serving.ts';
import { openLyingNode } from '../paying/lying-node.ts';
import { deliver, PAY_TO } from '../paying/paying.ts';
import { makePayingCommands, SLUG, sellWithoutSettling } from '../paying/verifying.ts';
import { getMarket } from '../worker-market.ts';
import { openOutput, type Ran, startCatalogue } from './running.ts';

const { base: chain } = await getMarket();

const WAITING = 'Another payment is being made';

const NO_WALLET = { settings: { PAYER_EVM_PRIVATE_KEY: '' } };

describe('verify without --pay', () => {
  it('shows what a call would cost, wallet or not, and pays nothing', async () => {
    const { verify, getLost, payer, catalogue } = await makePayingCommands(chain);
    const { code, json } = await verify();
    expect(code).toBe(0);
    expect(json).toMatchObject({
      ...{ slug: SLUG, route: 'GET /v1/quote', status: 402, refused: null, payment: null, differences: [] },
      would_pay: { network: 'base', amount: 1000, pay_to: PAY_TO },
      wallets: [{ network: 'base', payer: payer.toLowerCase(), balance: 1_000_000 }],
      caps: { per_call: 100_000, per_day: 5_000_000, spent: 0 },
    });
    expect([await getLost(), await listPayments(catalogue, 1)]).toEqual([0n, []]);
    const { run } = await makePayingCommands(chain, NO_WALLET);
    const { code: without, stdout } = await run(['verify', SLUG]);
    expect([without, stdout]).toEqual([0, expect.stringContaining(`Would pay 0.001 USDC on base to ${PAY_TO}.`)]);
    expect(stdout).toContain('0.1 USDC a call, 5 a day (0 used)');
  });

  it.each([
    ['amount', { amount: '2000' }, 'terms_differ', 'payable_with_changed_terms', 'Would pay 0.002 USDC'],
    ['asset', { asset: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' }, 'no_offer', 'not_usdc', 'Nothing is paid:'],
  ])('refuses another %s, and records the difference', async (_name, offer, refused, outcome, then) => {
    const { verify, run, catalogue, getLost } = await makePayingCommands(chain, { offer });
    const { code, json, stderr } = await verify('--pay');
    expect([code, json.refused, json.payment]).toEqual([1, refused, null]);
    expect(json.differences).not.toEqual([]);
    expect(stderr).toContain('probing the route to put that on record');
    const outcomes = catalogue.engine.sqlite.prepare('SELECT outcome FROM samples').pluck().all();
    expect(outcomes).toEqual([outcome]);
    expect([await getLost(), await listPayments(catalogue, 1)]).toEqual([0n, []]);
    // The next run uses what is on record then.
    expect((await run(['verify', SLUG])).stdout).toContain(then);
  });

  it('of a missing route says what came instead', async () => {
    const { run } = await makePayingCommands(chain, { route: { path: '/v2/quote' } });
    const { code, stdout } = await run(['verify', SLUG]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('the route did not answer 402')]);
    expect(stdout).toContain('status 404');
  });
});

describe('verify --pay', () => {
  it('pays, verifies the route, and ends with 0 if the product came', async () => {
    const { run, verify, getLost, catalogue } = await makePayingCommands(chain);
    const { code, json, stderr } = await verify('--pay');
    expect([code, json.payment.state, json.payment.delivered]).toEqual([0, 'settled', true]);
    expect(stderr).toMatch(/Recorded as [-0-9a-f]{36}, valid until/);
    expect(json.wallets[0].balance).toBe(999_000);
    expect(json.caps.spent).toBe(1000);
    const { stdout } = await run(['verify', SLUG, '--pay']);
    expect(stdout).toContain('0.001 USDC on base settled, and the product came.');
    expect(stdout).toContain('a local test chain with worthless money');
    expect([await getLost(), await listPayments(catalogue, 9)]).toEqual([
      2000n,
      [expect.anything(), expect.anything()],
    ]);
    expect((await run(['show', SLUG])).stdout).toContain('settlement-verified');
  });

  it('ends with 1 if it paid and nothing was delivered', async () => {
    const { run, getLost } = await makePayingCommands(chain, {
      sale: async ({ response, settle }) => {
        await settle();
        response.writeHead(500).end('sorry');
      },
    });
    const { code, stdout } = await run(['verify', SLUG, '--pay']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('nothing was delivered: the route stays unverified')]);
    expect(await getLost()).toBe(1000n);
  });

  it.each(['provider', 'openapi', 'bazaar'] as const)(
    'an answer that contradicts a schema of a source of kind %s',
    async (kind) => {
      const { run, verify, catalogue, getLost } = await makePayingCommands(chain, {
        kind,
        route: { output_schema: { type: 'object', required: ['price'], properties: { price: { type: 'number' } } } },
      });
      const { code, json } = await verify('--pay');
      const isOwn = kind !== 'bazaar';
      expect([code, json.payment.delivered, json.payment.unrecognised, json.payment.conforming]).toEqual(
        isOwn ? [1, false, 'schema_contradicted', 'no'] : [0, true, null, 'no'],
      );
      expect(json.payment.answer.fields).toEqual([{ path: 'quote', type: 'number' }]);
      const { stdout } = await run(['verify', SLUG, '--pay']);
      expect(stdout).toContain(
        isOwn
          ? "settled; the answer was not recognised as the product: the answer contradicts the provider's own schema."
          : 'settled, and the product came.',
      );
      expect(catalogue.engine.sqlite.prepare('SELECT delivered FROM receipts').pluck().all()).toEqual(
        isOwn ? [0, 0] : [1, 1],
      );
      expect(await getLost()).toBe(2000n);
    },
  );

  it('ends with 1 if the answer is an error with status 200', async () => {
    const { run } = await makePayingCommands(chain, {
      sale: async ({ response, settle }) => {
        await settle();
        response.setHeader('content-type', 'application/json');
        response.end('{"error":"boom"}');
      },
    });
    const { code, stdout } = await run(['verify', SLUG, '--pay']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('not recognised as the product: the answer says by its own words'),
    ]);
  });

  it('ends with 1 if it is stopped while it waits, and the next run resolves the payment', async () => {
    const { url: EVM_RPC_URL_SECOND } = await openLyingNode(chain.rpcUrl);
    const { sale, signal } = sellWithoutSettling();
    const { run, catalogue, getLost } = await makePayingCommands(chain, { sale, settings: { EVM_RPC_URL_SECOND } });
    const { code, stdout } = await run(['verify', SLUG, '--pay'], { signal });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('is still open (sent); the next run asks the chain again'),
    ]);
    const again = await run(['verify', SLUG, '--pay']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^error: The payment .* still open/m)]);
    await chain.undoAfter(async () => {
      await chain.setTime((await chain.getTime()) + 300);
      expect((await run(['receipts', 'reconcile'])).stdout).toContain('not_settled (expired)');
    });
    expect([await getLost(), await listPayments(catalogue, 9)]).toEqual([
      0n,
      [expect.objectContaining({ state: 'not_settled' })],
    ]);
  });

  it('without a wallet says which is missing', async () => {
    const { run } = await makePayingCommands(chain, NO_WALLET);
    const { code, stdout } = await run(['verify', SLUG, '--pay']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('no wallet is set for a network that it accepts')]);
  });

  it('waits for another payment to end, in another process', async () => {
    const stderr = openOutput();
    let second: Promise<Ran> | undefined;
    const { environment, folder, run, catalogue, getLost } = await makePayingCommands(chain, {
      sale: async ({ response, settle }) => {
        const transaction = await settle();
        // The first waits for its product until the other one waits for it.
        if (!second) {
          second = run(['verify', SLUG, '--pay'], { stderr });
          await expect.poll(() => stderr.getText()).toContain(WAITING);
        }
        deliver(response, transaction);
      },
    });
    const given = { ...environment, PAYER_FOLDER: join(folder, 'payer') };
    const first = await startCatalogue(['verify', SLUG, '--pay', '--json'], given).ran;
    expect([first.code, (await second)?.code]).toEqual([0, 0]);
    expect(first.stderr).not.toContain(WAITING);
    const [later, earlier] = await listPayments(catalogue, 9);
    expect((earlier?.resolved_at ?? '') <= (later?.prepared_at ?? 'none')).toBe(true);
    expect(await getLost()).toBe(2000n);
  });

  it('ends if it is stopped while it waits for another payment', async () => {
    const { run, folder, payer } = await makePayingCommands(chain);
    const { acquireLock } = await import('../../src/catalogue/lock.ts');
    const held = await acquireLock(join(folder, 'payer', `base-${payer.toLowerCase()}.lock`));
    const { code, stderr } = await run(['verify', SLUG, '--pay'], { signal: AbortSignal.timeout(300) });
    held.release();
    expect([code, stderr]).toEqual([1, expect.stringContaining(WAITING)]);
  });
});

describe('the request that is paid for', () => {
  const TEMPLATE = { route: { path: '/v1/price/:symbol', terms: [makeTerms({ pay_to: PAY_TO })] } };

  it('has no made-up value in it, and takes a file in place', async () => {
    const { run, verify, folder, catalogue } = await makePayingCommands(chain, TEMPLATE);
    const refused = await run(['verify', SLUG, '--pay']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('No value is known for symbol') });
    expect(refused.stderr).toContain('--input file.json with {"query": {"symbol": "…"}}');
    const file = join(folder, 'input.json');
    writeFileSync(file, JSON.stringify({ query: { symbol: 'ETH' } }));
    const { code, json } = await verify('--pay', '--input', file);
    expect([code, new URL(json.request.url).pathname]).toEqual([0, '/v1/price/ETH']);
    expect(await listPayments(catalogue, 1)).toMatchObject([{ state: 'settled', request: { url: json.request.url } }]);
  });

  it('is published with names and types alone where its values are on no public record', async () => {
    const { verify, folder, catalogue } = await makePayingCommands(chain, {
      route: { ...TEMPLATE.route, method: 'POST' },
    });
    const file = join(folder, 'input.json');
    const query = { symbol: 'SECRET-1', of: 'SECRET-2' };
    const body = { mail: 'SECRET-3', sizes: [4_070_407_040_704], deep: { on: false } };
    writeFileSync(file, JSON.stringify({ query, headers: { 'x-mine': 'SECRET-4' }, body }));
    const { json } = await verify('--pay', '--input', file);
    const { reading, get } = await serveLive(catalogue);
    const { receipt } = await (await get(`/agent/receipts/${json.payment.id}`)).json();
    expect(receipt.request).toMatchObject({
      url: expect.stringMatching(/\/v1\/price\/\{string\}\?symbol=\{string\}&of=\{string\}$/),
      headers: { 'content-type': 'application/json', 'x-mine': '{string}' },
      body: '{"mail":"{string}","sizes":["{number}"],"deep":{"on":"{boolean}"}}',
      hash: getRequestHash(receipt.request),
      values_withheld: true,
    });
    const listing = await (await get(`/agent/listings/${SLUG}`)).json();
    expect(listing.listing.routes[0].proof).toMatchObject({ receipt_id: json.payment.id, request: null });
    const published = [
      receipt,
      listing,
      findReceiptPage(reading, json.payment.id),
      await findListingPage(reading, SLUG),
    ];
    expect(JSON.stringify(published)).not.toMatch(/SECRET|4070407040704/);
    expect(readFileSync(reading.published.file).includes('SECRET')).toBe(false);
  });

  it('has no made-up body', async () => {
    const { run, verify, folder } = await makePayingCommands(chain, { route: { method: 'POST' } });
    const { code, stderr } = await run(['verify', SLUG, '--pay']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('No body is known for POST /v1/quote.')]);
    const file = join(folder, 'input.json');
    writeFileSync(file, '{"body":{"of":"ETH"}}');
    const paid = await verify('--pay', '--input', file);
    expect([paid.code, paid.json.payment.request.body]).toEqual([0, '{"of":"ETH"}']);
  });

  it.each([
    ['is not there', undefined, 'cannot be used: ENOENT'],
    ['is no JSON', '{', 'cannot be used:'],
    ['holds what it should not', '{"method":"POST"}', 'cannot be used:'],
    ['holds a query that is none', '{"query":{"a":1}}', 'cannot be used:'],
  ])('is not read from a file that %s', async (_name, content, sentence) => {
    const { run, folder, getLost } = await makePayingCommands(chain);
    const file = join(folder, 'bad.json');
    if (content !== undefined) writeFileSync(file, content);
    const { code, stderr } = await run(['verify', SLUG, '--pay', '--input', file]);
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr.split('\n')).toHaveLength(3);
    expect(await getLost()).toBe(0n);
  });

  it.each([
    [['--route', 'GET /v1/qoute'], 'has no route "GET /v1/qoute"', 'Did you mean "GET /v1/quote"?'],
    [['--route', 'nothing at all like it'], 'has no route', 'GET /v1/quote'],
  ])('is for an existing route: %j', async (args, sentence, hint) => {
    const { run } = await makePayingCommands(chain);
    const { code, stderr } = await run(['verify', SLUG, ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr).toContain(hint);
  });
});

describe('the operator', () => {
  it('stops all payments with a file', async () => {
    const { run, environment, folder, getLost } = await makePayingCommands(chain);
    const PAYER_STOP_FILE = join(folder, 'stop');
    Object.assign(environment, { PAYER_STOP_FILE });
    writeFileSync(PAYER_STOP_FILE, '');
    const { code, stderr } = await run(['verify', SLUG, '--pay']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Payments are stopped: the stop file exists.')]);
    expect(await getLost()).toBe(0n);
    rmSync(PAYER_STOP_FILE);
    expect((await run(['verify', SLUG, '--pay'])).code).toBe(0);
  });

  it.each([
    [{ MAX_USDC_PER_CALL: '0.000999' }, 'more than one call may cost: 0.000999 USDC'],
    [{ MAX_USDC_PER_DAY: '0.000999' }, 'more than a day may cost: 0.000999 USDC'],
    [{ MAX_USDC_PER_CALL: '0' }, 'more than one call may cost'],
  ])('sets caps: %j', async (settings, sentence) => {
    const { run, getLost } = await makePayingCommands(chain, { settings });
    const { code, stderr } = await run(['verify', SLUG, '--pay']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    expect(await getLost()).toBe(0n);
  });

  it('may spend what the caps say, to the last unit', async () => {
    const settings = { MAX_USDC_PER_CALL: '0.001', MAX_USDC_PER_DAY: '0.002' };
    const { run, getLost } = await makePayingCommands(chain, { settings });
    const codes = [];
    for (let round = 0; round < 3; round += 1) codes.push((await run(['verify', SLUG, '--pay'])).code);
    expect([codes, await getLost()]).toEqual([[0, 0, 1], 2000n]);
  });
});
