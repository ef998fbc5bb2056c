import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  validatePaymentIdentifierRequirement,
} from '@x402/extensions/payment-identifier';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import type { PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import { listMissing, listNeeds } from '../../src/evidence/abilities.ts';
import { ABILITIES } from '../../src/model/ability.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { readGivenChallenge } from '../../src/x402/given-challenge.ts';

let solana: SolanaChain;
let buyer: { evm: PrivateKeyAccount; solana: KeyPairSigner };

beforeAll(async () => {
  solana = await startSolanaChain();
  buyer = { evm: privateKeyToAccount(generatePrivateKey()), solana: await generateKeyPairSigner() };
});
afterAll(() => solana.stop());

const PAYEE = '0x1111111111111111111111111111111111111111';
const FACILITATOR = '0x2222222222222222222222222222222222222222';
const SOLANA_PAYEE = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const DOMAIN = { name: 'USD Coin', version: '2' };
const PERMIT2 = { assetTransferMethod: 'permit2' };
const IDENTIFIED = { 'payment-identifier': declarePaymentIdentifierExtension(true) };
const MAYBE_IDENTIFIED = { 'payment-identifier': declarePaymentIdentifierExtension(false) };
const SIGN_IN = { 'sign-in-with-x': { info: { domain: 'a.example' }, schema: {} } };
const DISCOVERY = { bazaar: { info: { input: { type: 'http', method: 'GET' } }, schema: {} } };

interface Offered {
  version: 1 | 2;
  network: 'base' | 'solana';
  scheme: string;
  extra: Record<string, unknown> | undefined;
  extensions?: Record<string, unknown>;
}

const base = (scheme: string, extra?: Offered['extra'], extensions?: Offered['extensions']): Offered => {
  return { version: 2, network: 'base', scheme, extra, ...(extensions && { extensions }) };
};
const onSolana = (scheme: string, extra?: Offered['extra'], extensions?: Offered['extensions']): Offered => {
  return { ...base(scheme, extra, extensions), network: 'solana' };
};
const old = (offered: Offered): Offered => ({ ...offered, version: 1 });
const FEE = { feePayer: SOLANA_PAYEE };

/** Offers of all kinds: the usual ones, and such as some clients, or all, cannot pay. */
const OFFERS: readonly Offered[] = [
  base('exact', DOMAIN),
  base('exact', { ...DOMAIN, assetTransferMethod: 'eip3009' }),
  base('exact', { ...DOMAIN, ...PERMIT2 }),
  base('exact', PERMIT2),
  base('exact'),
  base('exact', {}),
  base('exact', { name: 'USD Coin' }),
  base('exact', { ...DOMAIN, paymentFlow: 'upfront' }),
  base('exact', { ...DOMAIN, paymentFlow: 'later' }),
  base('exact', DOMAIN, DISCOVERY),
  base('exact', DOMAIN, IDENTIFIED),
  base('exact', DOMAIN, MAYBE_IDENTIFIED),
  base('exact', DOMAIN, SIGN_IN),
  base('exact', { ...DOMAIN, ...PERMIT2 }, IDENTIFIED),
  base('exact', {}, IDENTIFIED),
  base('upto', { ...DOMAIN, facilitatorAddress: FACILITATOR }),
  base('upto', { ...DOMAIN, ...PERMIT2, facilitatorAddress: FACILITATOR }),
  base('upto', { facilitatorAddress: FACILITATOR }),
  base('upto', { facilitatorAddress: 'me' }),
  base('upto', DOMAIN),
  base('upto'),
  base('upto', { facilitatorAddress: FACILITATOR }, IDENTIFIED),
  base('upto', { facilitatorAddress: FACILITATOR }, MAYBE_IDENTIFIED),
  base('batch-settlement', DOMAIN),
  base('auth-capture', DOMAIN),
  base('deferred', DOMAIN),
  onSolana('exact', FEE),
  onSolana('exact', { ...FEE, memo: 'order-1' }),
  onSolana('exact', {}),
  onSolana('exact', { feePayer: 'me' }),
  onSolana('exact', { ...FEE, paymentFlow: 'later' }),
  onSolana('exact', FEE, IDENTIFIED),
  onSolana('exact', FEE, DISCOVERY),
  onSolana('upto', FEE),
  old(base('exact', DOMAIN)),
  old(base('exact', {})),
  old(base('exact')),
  old(base('upto', DOMAIN)),
  old(onSolana('exact', FEE)),
  old(onSolana('exact', {})),
];

/** Clients as they are put together from the SDK, by what they can do. */
const CLIENTS: readonly (readonly [can: string, open: () => x402Client])[] = [
  ['v2,evm,exact,eip3009,permit2', () => new x402Client().register('eip155:*', new ExactEvmScheme(buyer.evm))],
  ['v2,evm,upto,permit2', () => new x402Client().register('eip155:*', new UptoEvmScheme(buyer.evm))],
  ['v1,evm,exact,eip3009', () => new x402Client().registerV1('base', new ExactEvmSchemeV1(buyer.evm))],
  ['v2,svm,exact', () => new x402Client().register('solana:*', openSvm())],
  ['v1,svm,exact', () => new x402Client().registerV1('solana', openSvmV1())],
  ['v1,v2,evm,svm,exact,eip3009,permit2', openUsual],
  ['v1,v2,evm,svm,exact,eip3009,permit2,payment-identifier', () => openUsual().registerExtension(IDENTIFYING)],
  [
    'v2,evm,exact,upto,eip3009,permit2,payment-identifier',
    () =>
      new x402Client()
        .register('eip155:*', new ExactEvmScheme(buyer.evm))
        .register('eip155:*', new UptoEvmScheme(buyer.evm))
        .registerExtension(IDENTIFYING),
  ],
];

/** The extension as its README has it: it adds an id where the seller declares it. */
const IDENTIFYING = {
  key: 'payment-identifier',
  enrichPaymentPayload: async (payload: PaymentPayload) => {
    const extensions = structuredClone(payload.extensions ?? {});
    return { ...payload, extensions: appendPaymentIdentifierToExtensions(extensions) };
  },
};

const openSvm = () => new ExactSvmScheme(buyer.solana, { rpcUrl: solana.rpcUrl });
const openSvmV1 = () => new ExactSvmSchemeV1(buyer.solana, { rpcUrl: solana.rpcUrl });

function openUsual(): x402Client {
  return new x402Client()
    .register('eip155:*', new ExactEvmScheme(buyer.evm))
    .register('solana:*', openSvm())
    .registerV1('base', new ExactEvmSchemeV1(buyer.evm))
    .registerV1('solana', openSvmV1());
}

function buildChallenge({ version, network, scheme, extra, extensions }: Offered) {
  const shared = {
    scheme,
    asset: NETWORKS[network].usdc,
    payTo: network === 'base' ? PAYEE : SOLANA_PAYEE,
    maxTimeoutSeconds: 60,
    ...(extra && { extra }),
  };
  const resource = 'https://a.example/x';
  if (version === 1) {
    const offer = { ...shared, network, maxAmountRequired: '1000', resource, description: '', mimeType: '' };
    return { x402Version: 1, accepts: [offer] };
  }
  const offer = { ...shared, network: NETWORKS[network].id, amount: '1000' };
  return { x402Version: 2, resource: { url: resource }, accepts: [offer], ...(extensions && { extensions }) };
}

/** Asks the SDK: does its client make a payment, and would the SDK's server take its extensions? */
async function isPaidBySdk(client: x402Client, offered: Offered): Promise<boolean> {
  const challenge = buildChallenge(offered) as unknown as PaymentRequired;
  try {
    const payment = await client.createPaymentPayload(challenge);
    const isIdRequired = offered.version === 2 && offered.extensions === IDENTIFIED;
    return !isIdRequired || validatePaymentIdentifierRequirement(payment, true).valid;
  } catch {
    // Whatever the reason, the client makes no payment.
    return false;
  }
}

function listMissingHere(can: string, offered: Offered): string[] {
  const given = readGivenChallenge(buildChallenge(offered));
  const offer = 'offers' in given ? given.offers[0]?.offer : undefined;
  if (!offer || !('terms' in offer)) throw new Error(`cannot read ${JSON.stringify(offered)}`);
  return listMissing(listNeeds(offer.terms), new Set(can.split(',')));
}

it('agrees with the clients of the SDK on which offers they can pay', async () => {
  expect(OFFERS.length).toBeGreaterThanOrEqual(30);
  const answers = await Promise.all(
    CLIENTS.flatMap(([can, open]) =>
      OFFERS.map(async (offered) => {
        const missing = listMissingHere(can, offered);
        const isPaid = await isPaidBySdk(open(), offered);
        return { can, offered: JSON.stringify(offered), missing: missing.join(' '), isPaid };
      }),
    ),
  );
  expect(answers.filter(({ missing, isPaid }) => (missing === '') !== isPaid)).toEqual([]);
  const paid = answers.filter(({ isPaid }) => isPaid).length;
  expect(paid).toBeGreaterThan(30);
  expect(answers.length - paid).toBeGreaterThan(100);
});

it.each<[string, Offered, string[]]>([
  ['v2,evm,exact,eip3009', base('exact', PERMIT2), ['permit2']],
  ['exact', base('exact', DOMAIN), []],
  ['eip3009', base('exact', {}), ['usdc-domain']],
  ['eip3009,usdc-domain', base('exact', {}), []],
  ['svm,exact', base('upto', DOMAIN), ['evm', 'upto', 'facilitator']],
  [ABILITIES.join(), base('upto', DOMAIN), ['facilitator']],
  [ABILITIES.join(), base('deferred', DOMAIN), ['deferred']],
  [ABILITIES.join(), base('exact', { ...DOMAIN, assetTransferMethod: 'erc7710' }), ['transfer-erc7710']],
  [ABILITIES.join(), base('exact', DOMAIN, { unheard: { info: { required: true } } }), ['unheard']],
  // By the name of something else that a client may be able to do, or by no name, an extension is still one.
  ...['mcp', 'usdc-domain', 'v2', 'fee-payer', 'a.example/escrow', ' '].map((name): [string, Offered, string[]] => {
    const extensions = { [name]: { info: { required: true } } };
    return [`${ABILITIES.join()},fee-payer`, base('exact', DOMAIN, extensions), ['other-extension']];
  }),
])('of a client that can %s it says for %j what is missing: %j', (can, offered, missing) => {
  expect(listMissingHere(can, offered)).toEqual(missing);
});
