import { decodePaymentRequiredHeader } from '@x402/core/http';
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier';
import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { getTermsKey, type Terms } from '../../src/model/terms.ts';
import {
  encodeHeader,
  makeChallenge,
  makeChallengeV1,
  makeOffer,
  makeOfferV1,
  makeSolanaOffer,
  PAYEE,
  read,
  readGood,
  SOLANA_PAYEE,
} from './challenges.ts';

const BASE_TERMS: Terms = {
  network: 'base',
  scheme: 'exact',
  asset: NETWORKS.base.usdc,
  amount: 10_000,
  pay_to: PAYEE.toLowerCase(),
  max_timeout_seconds: 60,
  x402_version: 2,
};

describe('a challenge', () => {
  it.each([
    [declarePaymentIdentifierExtension(), 'supported'],
    [declarePaymentIdentifierExtension(true), 'required'],
    [{ info: {} }, null],
    [{ required: true }, null],
    ['yes', null],
    [undefined, null],
  ])('says whether it takes an id of the payment: %j', (extension, found) => {
    const header = makeChallenge({ extensions: { 'payment-identifier': extension } });
    expect(readGood({ header }).payment_identifier).toBe(found);
  });

  it('of version 2 is read from the header', () => {
    const challenge = readGood({ header: makeChallenge({ accepts: [makeOffer(), makeSolanaOffer()] }), body: '{}' });
    expect(challenge).toEqual({
      x402_version: 2,
      found_in: 'header',
      offers: [BASE_TERMS, { ...BASE_TERMS, network: 'solana', asset: NETWORKS.solana.usdc, pay_to: SOLANA_PAYEE }],
      others: [],
      resource: 'https://seller.example/v1/quote',
      payment_identifier: null,
      input: null,
      output: null,
      flaws: [],
      nonconforming: [],
      ambiguities: [],
    });
  });

  it('of version 1 is read from the body', () => {
    const challenge = readGood({ body: makeChallengeV1() });
    expect(challenge).toMatchObject({ x402_version: 1, found_in: 'body', flaws: [], nonconforming: [] });
    expect(challenge.offers).toEqual([{ ...BASE_TERMS, x402_version: 1 }]);
    expect(challenge.resource).toBe('https://seller.example/v1/quote');
  });

  it('asks the same in either version and any case of its addresses', () => {
    const spelled = makeOfferV1({
      asset: NETWORKS.base.usdc.toLowerCase(),
      payTo: PAYEE.toUpperCase().replace('0X', '0x'),
    });
    const keys = [
      { header: makeChallenge() },
      { body: makeChallengeV1() },
      { body: makeChallengeV1({ accepts: [spelled] }) },
    ]
      .flatMap((parts) => readGood(parts).offers)
      .map(getTermsKey);
    expect(new Set(keys).size).toBe(1);
  });

  it.each([0, 1, 2])('is read from a header without padding, as the SDK of buyers does (%i left out)', (missing) => {
    const padded = [0, 1, 2].map((more) => encodeHeader(makeChallenge({ error: 'x'.repeat(more) })));
    const whole = padded.find((header) => header.length - header.replace(/=+$/, '').length === missing) ?? '';
    const rawHeader = whole.replace(/=+$/, '');
    expect(decodePaymentRequiredHeader(rawHeader)).toEqual(decodePaymentRequiredHeader(whole));
    expect(readGood({ rawHeader })).toEqual(readGood({ rawHeader: whole }));
  });

  it('in header and body is read from the header, and says if the body asks another price', () => {
    const both = readGood({ header: makeChallenge(), body: makeChallengeV1() });
    expect(both).toMatchObject({ x402_version: 2, found_in: 'header', flaws: [], ambiguities: [] });
    const torn = readGood({
      header: makeChallenge(),
      body: makeChallengeV1({ accepts: [makeOfferV1({ maxAmountRequired: '7' })] }),
    });
    expect(torn).toMatchObject({ offers: [BASE_TERMS], ambiguities: [{ code: 'body_differs' }] });
  });

  it('in header and body may have another payee in the body, or one twice', () => {
    const header = makeChallenge();
    const payTo = `0x${'9'.repeat(40)}`;
    const twice = JSON.stringify(makeChallengeV1()).replace('"payTo":', `"payTo":"${payTo}","payTo":`);
    const list = (body: unknown) => readGood({ header, body }).ambiguities;
    expect(list(makeChallengeV1({ accepts: [makeOfferV1({ payTo })] }))).toEqual([
      { code: 'body_differs', place: 'body /accepts' },
    ]);
    expect(list(twice)).toEqual([{ code: 'duplicate_key', place: 'body /accepts/0/payTo' }]);
  });

  it('may offer another network in only one of header and body', () => {
    const header = makeChallenge({ accepts: [makeOffer(), makeSolanaOffer()] });
    expect(readGood({ header, body: makeChallengeV1() }).ambiguities).toEqual([]);
  });

  it('is read from the body if the header is unreadable or missing', () => {
    expect(readGood({ rawHeader: '***', body: makeChallengeV1() })).toMatchObject({
      x402_version: 1,
      flaws: ['header_unreadable'],
    });
    expect(readGood({ body: makeChallenge() })).toMatchObject({ x402_version: 2, flaws: ['header_missing'] });
  });

  it('that the schema of the SDK refuses cannot be paid, and says where', () => {
    const { description: _description, ...offer } = makeOfferV1();
    expect(readGood({ body: makeChallengeV1({ accepts: [offer] }) })).toMatchObject({
      offers: [],
      others: [{ index: 0, reason: 'not_conforming', network: 'base' }],
      flaws: ['not_conforming'],
      nonconforming: ['accepts.0.description'],
    });
    expect(readGood({ header: makeChallenge({ resource: undefined }) })).toMatchObject({
      offers: [],
      nonconforming: ['resource'],
    });
  });

  it('that the schema refuses for a name or a text alone can be paid, with a flaw', () => {
    const resource = { url: 'https://seller.example/v1/quote', serviceName: 'Tomorrow’s Tides' };
    expect(readGood({ header: makeChallenge({ resource }), body: makeChallengeV1() })).toMatchObject({
      ...{ found_in: 'header', offers: [BASE_TERMS], others: [] },
      ...{ flaws: ['not_conforming'], nonconforming: ['resource.serviceName'] },
    });
  });

  it('that the schema refuses in the header alone is read from the body', () => {
    const header = makeChallenge({ accepts: [makeOffer({ network: 'base' })] });
    expect(readGood({ header })).toMatchObject({ offers: [], flaws: ['network_spelling', 'not_conforming'] });
    expect(readGood({ header, body: makeChallengeV1() })).toMatchObject({
      ...{ x402_version: 1, found_in: 'body' },
      flaws: ['header_unreadable'],
    });
  });

  it('in a header above 16 KB is not payable, because common clients drop the answer', () => {
    const pad = (length: number) => encodeHeader(makeChallenge({ error: 'x'.repeat(length) }));
    expect(readGood({ rawHeader: pad(11_000), body: makeChallengeV1() }).found_in).toBe('header');
    expect(read({ rawHeader: pad(13_000), body: makeChallengeV1() })).toEqual({
      ...{ kind: 'malformed', cause: 'header_too_large', found_in: 'header' },
    });
  });

  it('lists duplicate offers once', () => {
    expect(readGood({ header: makeChallenge({ accepts: [makeOffer(), makeOffer()] }) }).offers).toEqual([BASE_TERMS]);
  });

  it('has the request and answer of the route', () => {
    const info = {
      input: { type: 'http', method: 'GET', queryParams: { q: 'x' } },
      output: { type: 'json', example: 1 },
    };
    expect(readGood({ header: makeChallenge({ extensions: { bazaar: { info, schema: {} } } }) })).toMatchObject(info);
    expect(readGood({ body: makeChallengeV1({ accepts: [makeOfferV1({ outputSchema: info })] }) })).toMatchObject(info);
    const huge = { input: { text: 'x'.repeat(20_000) } };
    expect(readGood({ body: makeChallenge({ extensions: { bazaar: { info: huge } } }) }).input).toBeNull();
  });
});

describe('an offer that cannot be taken', () => {
  it.each([
    ['unsupported_network', { network: 'eip155:137' }],
    ['unsupported_network', { network: 'eip155:137', payTo: 5, amount: null }],
    ['test_network', { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }],
    ['test_network_mainnet_asset', { network: 'base-sepolia' }],
    ['no_network', { network: undefined }],
    ['not_usdc', { asset: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb' }],
    ['asset_not_an_address', { asset: 'USDC' }],
    ['no_asset', { asset: '' }],
    ['no_amount', { amount: undefined, maxAmountRequired: '10000' }],
    ['bad_amount', { amount: '-5' }],
    ['bad_amount', { amount: '0.01' }],
    ['bad_amount', { amount: '1e3' }],
    ['bad_amount', { amount: '$0.01' }],
    ['bad_amount', { amount: '0x10' }],
    ['bad_amount', { amount: ' 10' }],
    ['bad_amount', { amount: '１０' }],
    ['bad_amount', { amount: 10_000 }],
    ['zero_amount', { amount: '000' }],
    ['implausible_price', { amount: '9'.repeat(40) }],
    ['bad_pay_to', { payTo: 'urn:seller:1' }],
    ['bad_pay_to', { payTo: `0x${'0'.repeat(40)}` }],
    ['bad_pay_to', { payTo: SOLANA_PAYEE }],
    ['bad_scheme', { scheme: '' }],
    ['bad_timeout', { maxTimeoutSeconds: 0 }],
    ['bad_timeout', { maxTimeoutSeconds: undefined }],
  ])('is left out as %s, and the one beside it is kept: %j', (reason, overrides) => {
    const challenge = readGood({ header: makeChallenge({ accepts: [makeOffer(overrides), makeSolanaOffer()] }) });
    expect(challenge.others).toMatchObject([{ index: 0, reason }]);
    expect(challenge.offers.map(({ network }) => network)).toEqual(['solana']);
  });

  it('differs from one with only an odd time-out', () => {
    const [offer] = readGood({
      header: makeChallenge({ accepts: [makeOffer({ maxTimeoutSeconds: 1_790_000_000 })] }),
    }).offers;
    expect(offer?.max_timeout_seconds).toBeNull();
  });
});

describe('an answer without a challenge', () => {
  it.each([
    ['no_challenge', {}],
    ['bad_base64', { rawHeader: '{"x402Version":2}' }],
    ['bad_base64', { rawHeader: 'e30e3' }],
    ['bad_base64', { rawHeader: 'e3=' }],
    ['bad_base64', { rawHeader: 'e30==' }],
    ['bad_base64', { rawHeader: 'e3-_' }],
    ['bad_base64', { rawHeader: 'e30=e30=' }],
    ['bad_base64', { rawHeader: '' }],
    ['not_utf8', { rawHeader: '/////w==' }],
    ['not_json', { header: 'hello' }],
    ['not_json', { body: '{"x402Version":1,' }],
    ['html_page', { body: '<!doctype html><title>Pay</title>' }],
    ['not_utf8', { body: new Uint8Array([0xc3, 0x28]) }],
    ['not_an_object', { body: '[]' }],
    ['not_an_object', { header: 'null' }],
    ['no_version', { body: { error: 'Payment required' } }],
    ['bad_version', { body: makeChallengeV1({ x402Version: 3 }) }],
    ['bad_version', { body: makeChallengeV1({ x402Version: '1' }) }],
    ['no_accepts', { header: makeChallenge({ accepts: [] }) }],
    ['no_accepts', { header: makeChallenge({ accepts: {} }) }],
    [
      'too_many_offers',
      { body: makeChallengeV1({ accepts: Array.from({ length: 10_000 }, () => ({ scheme: 'exact' })) }) },
    ],
    ['body_too_large', { body: makeChallengeV1({ padding: 'x'.repeat(1_000_000) }) }],
    ['header_too_large', { header: makeChallenge({ padding: 'x'.repeat(100_000) }) }],
    ['too_deep', { body: `{"a":${'['.repeat(120_000)}${']'.repeat(120_000)}}` }],
  ])('is malformed for what it is: %s', (cause, parts) => {
    expect(read(parts)).toMatchObject({ kind: 'malformed', cause });
  });

  it.each([
    [['l402'], 'L402 version="0" token="eyJ1, Basic x", invoice="lnbc5800n1"'],
    [['lsat'], 'LSAT macaroon="abc", invoice="lnbc1"'],
    [['payment'], 'Payment id="1", realm="seller.example", method="tempo"'],
    [['bearer', 'l402'], 'Bearer realm="x", L402 macaroon="a"'],
  ])('may name another scheme: %j', (schemes, authenticate) => {
    expect(read({ authenticate, body: { error: 'Payment required' } })).toEqual({ kind: 'other_scheme', schemes });
  });

  it('is x402 if x402 is among the schemes', () => {
    expect(read({ authenticate: 'L402 macaroon="a"', header: makeChallenge() }).kind).toBe('challenge');
    expect(read({ authenticate: 'x402', body: '' })).toMatchObject({ kind: 'malformed', cause: 'no_challenge' });
  });
});
