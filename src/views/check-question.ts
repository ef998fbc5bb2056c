import { z } from 'zod';
import { httpMethod } from '../model/request.ts';
import { parseUsdc } from '../model/usdc.ts';

/** The scheme of an offer that names none. */
export const DEFAULT_SCHEME = 'exact';

/** Bounds that no honest caller meets are no part of the schemas, whose every word costs its readers tokens. */
const word = z.string().refine(({ length }) => length > 0 && length <= 100, 'of 1 to 100 characters');

const url = z.string().refine(({ length }) => length <= 2048, 'an address of at most 2048 characters');
const method = httpMethod.default('GET');
const amount = z
  .string()
  .refine((text) => /^\d{1,40}$/.test(text), 'atomic USDC in decimal digits, such as 1000 for 0.001 USDC');
const price = z.string().refine((text) => parseUsdc(text) !== undefined, 'a decimal amount of USDC, such as 0.001');
const scheme = word.default(DEFAULT_SCHEME);
const challenge = z
  .unknown()
  .optional()
  .meta({ type: ['string', 'object'] });

/** The call that was answered with 402, and the terms of one offer in that answer, copied field by field. */
export const checkFields = z.strictObject({
  url: url.describe('Address that answered 402, as it was called'),
  method: method.describe('Method of that call'),
  network: word.optional().describe('network of the offer: eip155:8453 or base, solana:… or solana'),
  asset: word.optional().describe('asset of the offer: the contract or mint of USDC'),
  pay_to: word.optional().describe('payTo of the offer'),
  amount: amount.optional().describe('amount (version 1: maxAmountRequired) of the offer, in atomic USDC'),
  price_usdc: price.optional().describe('The same as a decimal amount of USDC; give either'),
  scheme: scheme.describe('scheme of the offer'),
});

/** The same as one JSON object, which may hold the challenge as it came in place of the fields. */
export const checkQuestion = checkFields.extend({
  challenge: challenge.describe(
    'In place of the fields of one offer: the value of the PAYMENT-REQUIRED header (base 64), or the JSON of the ' +
      'challenge, of version 1 or 2, as an object or as text',
  ),
});
export type CheckQuestion = z.output<typeof checkQuestion>;

/** The same for a tool list, where most names say enough. */
export const checkArguments = z.strictObject({
  url: url.describe('Address that was called'),
  method,
  challenge: challenge.describe('PAYMENT-REQUIRED header or JSON body of the 402; else fields of one offer'),
  network: word.optional(),
  asset: word.optional(),
  pay_to: word.optional(),
  amount: amount.optional().describe('Atomic USDC'),
  price_usdc: price.optional(),
  scheme,
});

/** The fields that make an offer, all of which a comparison takes; the amount in either unit. */
export const OFFER_FIELDS = ['network', 'asset', 'pay_to', 'amount', 'price_usdc'] as const;
