import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Finding } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { readApiDocument } from '../../src/sources/api-document.ts';
import { listChallengeFindings } from '../../src/sources/challenge-findings.ts';
import {
  applyStep,
  type Correction,
  correctChallenge,
  correctDocument,
  encodeChallenge,
  formatSteps,
} from '../../src/sources/corrections.ts';
import { readChallenge } from '../../src/x402/read-challenge.ts';
import { encodeHeader, makeChallenge, makeChallengeV1, makeOffer, makeOfferV1, PAYEE } from '../x402/challenges.ts';
import { OPTIONS } from './bazaar/items.ts';

const FOLDER = join(import.meta.dirname, 'odd');
const URL_OF_FILE = 'https://api.tides.example/.well-known/x402';
const ASKED = 'https://api.tides.example/v1/height';
const DOCUMENT = { ...OPTIONS, name: URL_OF_FILE, url: URL_OF_FILE, base_url: null, now: OPTIONS.pulledAt };

/** What only the author can say: a price, a payee, whether something is sold at all. */
const ITS_AUTHOR_SAYS = new Set([
  ...['402-amount-missing', '402-header-large', '402-nothing', '402-not-json', '402-offers-empty', '402-payee-missing'],
  ...['402-is-a-list', '402-header-not-base64', '402-web-page', 'openapi-other-protocol', 'openapi-price-huge'],
  ...['openapi-price-zero', 'openapi-version-2', 'openapi-yaml-broken', 'openapi-no-payment', 'x402-entry-bare-word'],
  ...['x402-entry-number', 'x402-entry-without-address', 'x402-method-unknown', 'x402-nothing-in-it'],
  ...['x402-offer-payee', 'x402-other-json', 'x402-other-origin', 'x402-price-zero', 'x402-web-page'],
]);

const cases = readdirSync(FOLDER)
  .filter((name) => /^(?:402|openapi|x402)-/.test(name))
  .map((file) => ({ name: file.replace('.yaml', ''), ...parse(readFileSync(join(FOLDER, file), 'utf8')) }));

function correctKind(kind: string, text: string): Correction | undefined {
  const bytes = Buffer.from(text);
  if (kind === 'document') return correctDocument(bytes, URL_OF_FILE, DOCUMENT);
  if (kind === 'body') return correctChallenge({ headers: new Headers(), body: bytes }, ASKED);
  return correctHeader(kind === 'header' ? bytes.toString('base64') : text);
}

function correctHeader(header: string): Correction | undefined {
  return correctChallenge({ headers: new Headers({ 'payment-required': header }), body: new Uint8Array() }, ASKED);
}

function listRefused(kind: string, value: unknown): Finding[] {
  const findings = kind === 'document' ? listOfDocument(value) : listOfChallenge(value);
  return findings.filter(({ severity, code }) => severity === 'refused' || code === 'no_payable_operation');
}

function listOfDocument(value: unknown): Finding[] {
  const read = readApiDocument(Buffer.from(JSON.stringify(value)), DOCUMENT);
  return 'code' in read ? [{ ...read, severity: 'refused', item: '' }] : read.findings;
}

function listOfChallenge(value: unknown): Finding[] {
  const header = encodeChallenge(value);
  const headers = new Headers(header === undefined ? {} : { 'payment-required': header });
  const body = header === undefined ? Buffer.from(JSON.stringify(value)) : new Uint8Array();
  return listChallengeFindings(readChallenge({ headers, body }), ASKED);
}

describe('what is odd', () => {
  it('is corrected in more cases than not', () => {
    expect(cases.length - ITS_AUTHOR_SAYS.size).toBeGreaterThanOrEqual(30);
    expect([...ITS_AUTHOR_SAYS].filter((name) => !cases.some((one) => one.name === name))).toEqual([]);
  });

  it.each(cases)('$name is read without a refusal once it is corrected', ({ name, kind, document }) => {
    const correction = correctKind(kind, document);
    const isRight = correction !== undefined && listRefused(kind, correction.value).length === 0;
    expect([isRight, correction?.isWhole ?? false]).toEqual(ITS_AUTHOR_SAYS.has(name) ? [false, false] : [true, true]);
  });

  it.each(cases)('$name is put right by the steps that are named, one after the other', ({ kind, document }) => {
    const correction = correctKind(kind, document);
    const root = {
      value: correction && parse(kind === 'header' || kind === 'rawheader' ? '{}' : document, { uniqueKeys: false }),
    };
    if (!correction?.isWhole || kind === 'rawheader') return;
    if (kind === 'header') root.value = JSON.parse(document);
    for (const step of [...correction.steps.values()].flat()) applyStep(root, step);
    expect(root.value).toEqual(correction.value);
  });
});

describe('a challenge', () => {
  const { base, solana } = NETWORKS;
  const ofOffer = (offer: object) => correctHeader(encodeHeader(makeChallenge({ accepts: [makeOffer({ ...offer })] })));
  const getOffer = (correction: Correction | undefined) => Object(correction?.value).accepts[0];

  it.each([
    ['0.003', '3000'],
    ['$0.01', '10000'],
    ['0.05 USDC', '50000'],
    ['1 cent', '10000'],
    ['10,000', '10000'],
    ['10_000', '10000'],
    [' 10000 ', '10000'],
    ['0010000', '10000'],
    ['1e4', '10000'],
    ['0x2710', '10000'],
    [10_000, '10000'],
    [0.01, '10000'],
    ['10000.0', '10000'],
    ['10000000000000000', '10000'],
  ])('has the amount %j written as %s', (amount, right) => {
    const correction = ofOffer({ amount });
    expect([getOffer(correction).amount, correction?.isWhole]).toEqual([right, true]);
  });

  it.each(['-5', 'free', '', '0', 'NaN', '1/2', {}, null])('keeps the amount %j, which says no price', (amount) => {
    const correction = ofOffer({ amount });
    expect([getOffer(correction).amount, correction?.isWhole]).toEqual([amount, false]);
  });

  it.each([
    [{ network: 'base' }, base.id],
    [{ network: 'Base Mainnet' }, base.id],
    [{ network: 'eip155:1' }, base.id],
    [{ network: 8453 }, base.id],
    [{ network: undefined }, base.id],
    [{ network: 'base-sepolia', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }, base.id],
    [{ network: 'solana', asset: solana.usdc, payTo: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2' }, solana.id],
  ])('names the network that %j means', (offer, network) => {
    const correction = ofOffer(offer);
    expect([getOffer(correction).network, correction?.isWhole]).toEqual([network, true]);
  });

  it('has the token by its address, a payee under its own name, and each fault at its place', () => {
    const { payTo, ...offer } = makeOffer({ asset: 'USDC', maxTimeoutSeconds: '60', scheme: undefined });
    const correction = correctHeader(
      encodeHeader({ x402Version: '2', accepts: { ...offer, recipient: payTo }, resource: undefined }),
    );
    expect(correction?.isWhole).toBe(true);
    expect(correction?.value).toEqual({
      x402Version: 2,
      accepts: [makeOffer({ maxTimeoutSeconds: 60 })],
      resource: { url: ASKED },
    });
    expect([...(correction?.steps.keys() ?? [])]).toEqual(
      expect.arrayContaining(['bad_version /x402Version', 'no_accepts /accepts', 'bad_pay_to /accepts/0/payTo']),
    );
  });

  it('keeps a token that is not USDC, and a payee that is none', () => {
    expect(ofOffer({ asset: `0x${'5'.repeat(40)}` })?.isWhole).toBe(false);
    expect(ofOffer({ asset: 'ETH' })?.isWhole).toBe(false);
    expect(ofOffer({ payTo: 'me' })?.isWhole).toBe(false);
  });

  it('of version 1 in the header belongs in the body', () => {
    const correction = correctHeader(encodeHeader(makeChallengeV1()));
    expect(correction?.value).toEqual(makeChallengeV1());
    expect(encodeChallenge(correction?.value)).toBeUndefined();
    expect(listOfChallenge(correction?.value)).toEqual([]);
  });

  it('of two names for one thing keeps that of its version', () => {
    const other = `0x${'9'.repeat(40)}`;
    expect(getOffer(ofOffer({ recipient: other }))).toEqual(makeOffer());
    expect(getOffer(ofOffer({ maxAmountRequired: '7' }))).toEqual(makeOffer());
    const v1 = makeChallengeV1({ accepts: [makeOfferV1({ amount: '7' })] });
    const body = Buffer.from(JSON.stringify(v1));
    expect(getOffer(correctChallenge({ headers: new Headers(), body }, ASKED))).toEqual(makeOfferV1());
  });

  it.each([
    ["{'x402Version': 1, 'accepts': [OFFER,],}", 1],
    ['{x402Version: 1, accepts: [OFFER]}', 1],
    ['{"x402Version": 1, "accepts": [OFFER]', undefined],
    ['<html>', undefined],
  ])('that is not JSON is read as what was meant: %s', (text, version) => {
    const body = Buffer.from(text.replace('OFFER', JSON.stringify(makeOfferV1())));
    const correction = correctChallenge({ headers: new Headers(), body }, ASKED);
    expect(Object(correction?.value).x402Version).toBe(version);
    if (version !== undefined) expect(listOfChallenge(correction?.value)).toEqual([]);
  });

  it('in the header is read in any base 64, and as plain JSON', () => {
    const challenge = makeChallenge({ error: '???>>>' });
    const text = JSON.stringify(challenge);
    for (const header of [Buffer.from(text).toString('base64url'), text, ` ${encodeHeader(text).slice(0, -1)}*`]) {
      expect(correctHeader(header)?.value).toEqual(challenge);
    }
  });

  it('touches no prototype, and stays within its bounds', () => {
    const hostile = JSON.parse('{"x402Version": 2, "accepts": [{"__proto__": {"amount": "1.5"}, "network": "base"}]}');
    correctHeader(encodeHeader(JSON.stringify(hostile)));
    applyStep({ value: {} }, { op: 'add', path: '/__proto__/polluted', value: 1 });
    applyStep({ value: {} }, { op: 'add', path: '/constructor/prototype/polluted', value: 1 });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const many = makeChallenge({ accepts: Array.from({ length: 100 }, () => makeOffer({ amount: '0.5' })) });
    expect(correctHeader(encodeHeader(many))?.steps.size).toBeLessThanOrEqual(64);
    expect(correctKind('body', `{"a": "${'x'.repeat(300_000)}"}`)).toBeUndefined();
    expect(correctKind('body', `[${'&a [*a,'.repeat(2000)}]`)).toBeUndefined();
  });

  it('shows the members to write, and none to remove', () => {
    expect(
      formatSteps([
        { op: 'add', path: '/accepts/0/payTo', value: PAYEE },
        { op: 'remove', path: '/accepts/0/recipient' },
        { op: 'replace', path: '/accepts/0', value: { a: 1 } },
      ]),
    ).toBe(`"payTo": "${PAYEE}",\n{\n  "a": 1\n}`);
  });
});
