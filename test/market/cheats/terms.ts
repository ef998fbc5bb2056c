import { buildChallenge } from './challenge.ts';
import type { Cheating, Raw, Scene } from './cheating.ts';
import { DELIVERY_CHEATS } from './delivery.ts';
import { openElsewhere } from './elsewhere.ts';

const YEAR_SECONDS = 31_536_000;
const EURC = '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const BASE_SEPOLIA = { id: 'eip155:84532', key: 'base-sepolia', usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' };
const SOMEBODY_ELSE = {
  base: '0x2222222222222222222222222222222222222222',
  solana: 'So11111111111111111111111111111111111111112',
};

/** Sellers whose terms are not what they were, or not what they seem. */
export const TERMS_CHEATS = {
  raises_price: {
    lie: 'Asks for five times as much as before',
    changeOffers: changeLater((offer, scene) => setAmount(offer, String(scene.options.price * 5))),
  },
  raises_price_when_paid: {
    lie: 'Asks for five times as much once it is paid, and settles nothing',
    answerPaid: (sale) => sale.askAgain(sale.offers.map((offer) => setAmount(offer, String(sale.options.price * 5)))),
  },
  swaps_payee: {
    lie: 'Has the money go to somebody else than before',
    changeOffers: changeLater((offer, { options }) => ({ ...offer, payTo: SOMEBODY_ELSE[options.network] })),
  },
  other_asset: {
    lie: 'Asks for another token than before',
    changeOffers: changeLater((offer) => ({ ...offer, asset: EURC, extra: { name: 'EURC', version: '2' } })),
  },
  other_chain: {
    lie: 'Asks for money on another chain than before',
    changeOffers: changeLater((offer, { options }) => ({
      ...offer,
      network: options.version === 1 ? BASE_SEPOLIA.key : BASE_SEPOLIA.id,
      asset: BASE_SEPOLIA.usdc,
    })),
  },
  caip2_under_v1: {
    lie: 'Names the network as version 2 does, in version 1',
    changeOffers: (offers) => offers.map((offer) => ({ ...offer, network: 'eip155:8453' })),
  },
  bad_amount: {
    lie: 'Asks for an amount that is none',
    changeOffers: (offers, { options }) =>
      offers.map((offer) => setAmount(offer, options.amount === undefined ? '-1000' : options.amount)),
  },
  foreign_domain: {
    lie: 'Has the signature made over the domain of another token',
    changeOffers: (offers) => offers.map((offer) => ({ ...offer, extra: { name: 'EURC', version: '2' } })),
  },
  year_long: {
    lie: 'Wants the payment to be good for a year, and keeps it until it likes',
    changeOffers: (offers) => offers.map((offer) => ({ ...offer, maxTimeoutSeconds: YEAR_SECONDS })),
    answerPaid: DELIVERY_CHEATS.settles_late.answerPaid,
  },
  dear_offer_first: {
    lie: 'Names its price after two that are much higher',
    changeOffers: (offers) => offers.flatMap((offer) => [setAmount(offer, '900000'), setAmount(offer, '50000'), offer]),
  },
  ten_thousand_offers: {
    lie: 'Makes ten thousand offers, the dearest first',
    changeOffers: (offers, { options }) =>
      Array.from({ length: 10_000 }, (_, index) => setAmount(offers[0] ?? {}, String(options.price + 9_999 - index))),
  },
  huge_challenge: {
    lie: 'Answers with a 402 of a megabyte',
    challenge: ({ options }, offers, resource) =>
      buildChallenge(options.version, resource, offers, { padding: 'x'.repeat(2 ** 20) }),
  },
  redirects_payment: {
    lie: 'Sends a request that carries a payment on to another origin',
    async answerPaid(sale) {
      const location = `${await openElsewhere(sale)}/v1/length`;
      return new Response(null, { status: 307, headers: { location } });
    },
  },
} as const satisfies Record<string, Cheating>;

/** Changes each offer once the challenges that are to be honest were given. */
function changeLater(change: (offer: Raw, scene: Scene) => Raw): NonNullable<Cheating['changeOffers']> {
  return (offers, scene) =>
    scene.round < scene.options.honestFor ? offers : offers.map((offer) => change(offer, scene));
}

function setAmount(offer: Raw, amount: unknown): Raw {
  return 'maxAmountRequired' in offer ? { ...offer, maxAmountRequired: amount } : { ...offer, amount };
}
