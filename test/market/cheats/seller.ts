import { z } from 'zod';
import { openServer } from '../../../scripts/market/loopback.ts';
import type { Market } from '../../../scripts/market/market.ts';
import { decodeHeader, encodeHeader, settlePayment } from '../../../scripts/market/providers/facilitation.ts';
import { buildDocument, buildOfferV1 } from '../../../scripts/market/providers/offers.ts';
import { openPayees } from '../../../scripts/market/providers/provider.ts';
import { buildRoute, type PayableRoute, type ProviderPlan } from '../../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import { buildChallenge } from './challenge.ts';
import type { Cheating, CheatingSeller, CheatOptions, Raw, Sale, Scene } from './cheating.ts';

/** Opens a seller that cheats in the given way. It sells one thing: the length of a text. */
export async function openSeller(
  market: Market,
  cheating: Cheating,
  given: CheatOptions = {},
): Promise<CheatingSeller> {
  const options = { network: 'base', version: 2, price: 1_000, honestFor: 1, ...given } as const;
  const payees = await openPayees(options.network === 'solana' ? market.solana : undefined);
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const server = await openServer((request) => answer(cheating, scene, request));
  const seller: CheatingSeller = {
    ...server,
    plan: buildPlan(cheating, options),
    route: buildLengthRoute(options.price),
    payees,
    documentUrl: `${server.url}/openapi.json`,
    asked: [],
    settlements: [],
    kept: [],
    elsewhere: undefined,
    settleKept: async () => Promise.all(seller.kept.splice(0).map((settle) => settle())),
    async close() {
      close();
      await server.close();
    },
  };
  const scene: Scene = { market, options, payees, seller, closed };
  return seller;
}

async function answer(cheating: Cheating, scene: Scene, request: Request): Promise<Response> {
  const { seller, options, payees } = scene;
  const { pathname, origin } = new URL(request.url);
  if (pathname === '/openapi.json') return Response.json(buildDocument(seller.plan, origin, payees));
  if (pathname !== seller.route.path) return Response.json({ error: 'not found' }, { status: 404 });
  const header = request.headers.get('payment-signature') ?? request.headers.get('x-payment');
  const round = seller.asked.filter(({ isPaid }) => !isPaid).length;
  seller.asked.push({ isPaid: header !== null, headers: Object.fromEntries(request.headers) });
  const offers = [buildOffer(scene, request.url)];
  if (header === null) {
    const changed = cheating.changeOffers?.(offers, { ...scene, round }) ?? offers;
    return cheating.challenge?.(scene, changed, request.url) ?? buildChallenge(options.version, request.url, changed);
  }
  const sale = openSale(scene, { payment: decodeHeader(header) ?? {}, offers, request });
  if (cheating.answerPaid) return cheating.answerPaid(sale);
  const settlement = await sale.settle();
  return settlement.success ? sale.deliver(settlement) : sale.askAgain();
}

function buildPlan({ lie }: Cheating, { version, network, price }: Scene['options']): ProviderPlan {
  return { key: 'cheat', title: lie, summary: lie, version, networks: [network], routes: [buildLengthRoute(price)] };
}

function buildLengthRoute(price: number): PayableRoute {
  return buildRoute({
    method: 'GET',
    path: '/v1/length',
    summary: 'Says how long a text is.',
    price,
    input: z.object({ text: z.string() }),
    output: z.object({ characters: z.int() }),
    example: { text: 'how long is this' },
    work: ({ text }) => ({ characters: text.length }),
  });
}

function buildOffer({ market, payees, options, seller }: Scene, resource: string): Raw {
  const { network, version } = options;
  const feePayer = market.facilitator.solanaFeePayer;
  const offer = buildOfferV1(seller.route, { network, payees, feePayer, resource });
  if (version === 1) return offer;
  const { scheme, maxAmountRequired: amount, asset, payTo, maxTimeoutSeconds, extra } = offer;
  return { scheme, network: NETWORKS[network].id, amount, asset, payTo, maxTimeoutSeconds, extra };
}

interface Asked {
  payment: Raw;
  offers: Raw[];
  request: Request;
}

function openSale(scene: Scene, { payment, offers, request }: Asked): Sale {
  const [honest = {}] = offers;
  const { market, options, seller } = scene;
  const { searchParams } = new URL(request.url);
  const presented = {
    payment: { ...payment, ...(options.version === 1 ? { network: options.network } : {}) },
    requirement: getRequirement(payment, honest, options.version),
  };
  const receiptHeader = options.version === 1 ? 'x-payment-response' : 'payment-response';
  return {
    ...scene,
    payment,
    offers,
    presented,
    async settle() {
      const settlement = await settlePayment(market.facilitator.url, presented);
      seller.settlements.push(settlement);
      return settlement;
    },
    deliver: (receipt) =>
      Response.json(
        { characters: searchParams.get('text')?.length ?? 0 },
        receipt ? { headers: { [receiptHeader]: encodeHeader(receipt) } } : {},
      ),
    askAgain: (asked = offers) => buildChallenge(options.version, request.url, asked),
  };
}

/** A cheat takes what it gets: amount and payee are those of the payment, the rest is what honesty would ask. */
function getRequirement({ accepted, payload }: Raw, honest: Raw, version: 1 | 2): Raw {
  const fields = z.object({ value: z.string(), to: z.string() });
  const { data: authorization } = z.object({ authorization: fields }).safeParse(payload);
  const { data: chosen } = z.object({ amount: z.string(), payTo: z.string() }).safeParse(accepted);
  const amount = authorization?.authorization.value ?? chosen?.amount;
  const payTo = authorization?.authorization.to ?? chosen?.payTo;
  const name = version === 1 ? 'maxAmountRequired' : 'amount';
  return { ...honest, ...(amount === undefined ? {} : { [name]: amount }), ...(payTo === undefined ? {} : { payTo }) };
}
