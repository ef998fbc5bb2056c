import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { listAmbiguities } from '../../src/x402/ambiguities.ts';
import { skipWithout } from '../skipped.ts';
import {
  makeChallenge,
  makeChallengeV1,
  makeOffer,
  makeOfferV1,
  makeSolanaOffer,
  PAYEE,
  readGood,
  SOLANA_PAYEE,
} from './challenges.ts';

const OTHER = `0x${'9'.repeat(40)}`;

/** Lists what is ambiguous in a 402 with these offers in its header, by code and place. */
function list(...accepts: readonly unknown[]): string[] {
  return listTold({ header: makeChallenge({ accepts: [...accepts] }) });
}

function listTold(parts: Parameters<typeof readGood>[0]): string[] {
  return readGood(parts).ambiguities.map(({ code, place }) => `${code} ${place}`);
}

describe('a challenge that two readers read differently', () => {
  it('has a key twice, however it is written', () => {
    const text = JSON.stringify(makeChallenge());
    for (const key of ['amount', '\\u0061mount']) {
      const header = text.replace('"amount":', `"${key}":"1","amount":`);
      expect(listTold({ header })).toEqual(['duplicate_key /accepts/0/amount']);
    }
    expect(listTold({ header: text })).toEqual([]);
  });

  it.each(['pay_to', 'recipient', 'PayTo', 'receiver', 'wallet_address'])('names two payees: payTo and %s', (name) => {
    expect(list(makeOffer({ [name]: OTHER }))).toEqual([`pay_to_differs /accepts/0/${name}`]);
    expect(list(makeOffer({ [name]: PAYEE.toLowerCase() }))).toEqual([]);
    expect(list(makeOffer({ [name]: 'Example Incorporated' }))).toEqual([]);
    expect(list(makeSolanaOffer({ [name]: NETWORKS.solana.usdc.replace('E', 'F') }))).toEqual([
      `pay_to_differs /accepts/0/${name}`,
    ]);
    expect(list(makeSolanaOffer({ [name]: SOLANA_PAYEE }))).toEqual([]);
  });

  it('names two amounts', () => {
    expect(list(makeOffer({ maxAmountRequired: '10001' }))).toEqual(['amount_differs /accepts/0/maxAmountRequired']);
    expect(listTold({ body: makeChallengeV1({ accepts: [makeOfferV1({ amount: '7' })] }) })).toEqual([
      'amount_differs /accepts/0/amount',
    ]);
    expect(list(makeOffer({ maxAmountRequired: '10000' }))).toEqual([]);
    expect(list(makeOffer({ maxAmountRequired: '' }))).toEqual([]);
  });

  it('makes one offer to two payees, whichever way the network is spelled', () => {
    expect(list(makeOffer(), makeOffer({ payTo: OTHER }))).toEqual(['pay_to_differs /accepts/1/payTo']);
    expect(list(makeOffer(), makeSolanaOffer(), makeOffer({ network: 'base', payTo: OTHER }))).toEqual([
      'pay_to_differs /accepts/2/payTo',
    ]);
    expect(list(makeOffer(), makeOffer())).toEqual([]);
    expect(list(makeOffer(), makeOffer({ payTo: OTHER, amount: '20000' }))).toEqual([]);
    expect(list(makeOffer(), makeOffer({ payTo: OTHER, scheme: 'upto' }))).toEqual([]);
    expect(list(makeOffer(), makeSolanaOffer())).toEqual([]);
  });

  it.each(['1e3', '0x10', '0010', '1.0', '+5', '-5', ' 10', '10 ', '1 000', '1,000', '１０', '10n', 2 ** 53, 0.5, {}])(
    'has the amount %j',
    (amount) => {
      expect(list(makeOffer(), makeOffer({ amount }))).toEqual(['bad_amount /accepts/1/amount']);
    },
  );

  it.each(['10000', '0', '', null, undefined, 10_000, '9'.repeat(60)])('has no such amount as %j', (amount) => {
    expect(list(makeOffer(), makeOffer({ amount }))).toEqual([]);
  });

  it('says one thing in the header and another in the body', () => {
    const accepts = [makeOfferV1({ payTo: OTHER })];
    expect(listTold({ header: makeChallenge(), body: makeChallengeV1({ accepts }) })).toEqual([
      'body_differs body /accepts',
    ]);
    const twice = JSON.stringify(makeChallengeV1()).replace('"payTo":', `"payTo":"${OTHER}","payTo":`);
    expect(listTold({ header: makeChallenge(), body: twice })).toEqual(['duplicate_key body /accepts/0/payTo']);
    expect(listTold({ header: makeChallenge(), body: makeChallengeV1() })).toEqual([]);
  });
});

const FEED = resolve(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');

describe('a thousand real offers', () => {
  skipWithout('corpus');

  it('can each be read in one way alone', () => {
    const feed = JSON.parse(readFileSync(FEED, 'utf8'));
    const items: { accepts: unknown[] }[] = feed.items ?? feed.resources ?? feed;
    expect(items.length).toBeGreaterThan(900);
    expect(items.flatMap(({ accepts }) => listAmbiguities(accepts, []))).toEqual([]);
  });
});
