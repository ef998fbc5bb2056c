import { z } from 'zod';
import { networkKey } from './network.ts';
import { unrecognisedReason } from './payment.ts';
import { probeOutcome } from './probe.ts';
import { lowerFirst, TEXT_LIMITS } from './text.ts';

/** Meaning of every caution with one code. */
interface CautionMeaning {
  /** `danger`: do not pay. `notice`: worth knowing before paying. */
  readonly severity: 'danger' | 'notice';
  /** Label of a mark, in a few words. */
  readonly label: string;
  readonly sentence: string;
  /** Writes it as the standing of a route in a list, with its day; `day` is empty if that is not known. */
  readonly formatStanding: (day: string) => string;
  /** Event that ends it; completes "It ends …". */
  readonly ends: string;
  /** True if it holds from the declaration on, whose time it has; it is no news. */
  readonly isFromStart?: true;
  /** True if its time and evidence may change with every probe. */
  readonly isMoving?: true;
}

/** Time for which a payee or a price must have been asked for to be the one on record, in days. */
export const ON_RECORD_AFTER_DAYS = 14;

/** Time for which an announced payee must have been seen before paying it is safe, in days. */
export const SAFE_AFTER_ANNOUNCED_DAYS = 3;

const on = (day: string) => day && ` on ${day}`;
const since = (day: string) => day && ` since ${day}`;

/** All cautions about a route or a listing: the closed vocabulary, the gravest first. */
export const CAUTIONS = {
  undelivered: {
    severity: 'danger',
    label: 'paid, nothing delivered',
    sentence: 'We paid for a call, and nothing was delivered.',
    formatStanding: (day) => `failed our paid call${on(day)}`,
    ends: 'with a later paid call that is delivered, or when the operator corrects the receipt',
  },
  unrecognised: {
    severity: 'danger',
    label: 'paid, product not recognised',
    sentence: 'We paid for a call, and the answer was not recognised as the product.',
    formatStanding: (day) => `our paid call brought something else${on(day)}`,
    ends: 'with a later paid call that is delivered, or when the operator corrects the receipt',
  },
  payee_differs: {
    severity: 'danger',
    label: 'payee changed',
    sentence: 'The payee is not the one that was on record before.',
    formatStanding: (day) => `payee changed${on(day)}`,
    ends: `when the earlier payee is named again, when a call paid to the new one is delivered, or when probes saw the new one for ${ON_RECORD_AFTER_DAYS} days`,
  },
  reads_differently: {
    severity: 'danger',
    label: '402 reads two ways',
    sentence: 'The 402 can be read in two ways, so you may sign for another payee or amount than you saw.',
    formatStanding: (day) => `402 reads two ways${since(day)}`,
    ends: 'with the next valid 402 that everybody reads alike',
  },
  payee_announced: {
    severity: 'notice',
    label: 'new payee, announced',
    sentence: "The payee changed as the provider's own document announced; no offer is safe yet.",
    formatStanding: (day) => `new payee announced${on(day)}`,
    ends: `when a call paid to the new payee is delivered, or when probes saw it for ${SAFE_AFTER_ANNOUNCED_DAYS} days`,
  },
  imitates_name: {
    severity: 'notice',
    label: 'name of another API',
    sentence: 'The name is, or looks like, that of a better known API at another domain.',
    formatStanding: (day) => `name of another API${since(day)}`,
    ends: 'when one of the two changes its name, when this one is settlement-verified, or as well known for it as the other, when the other is removed, or when this one asks to pay nobody but the payees of the other',
  },
  price_above_record: {
    severity: 'notice',
    label: 'price rose',
    sentence: 'The price is higher than the one that was on record before.',
    formatStanding: (day) => `price rose${on(day)}`,
    ends: `when the earlier price is asked again, when a call paid at the new one is delivered, or when probes saw the new one for ${ON_RECORD_AFTER_DAYS} days`,
  },
  withdrawn: {
    severity: 'notice',
    label: 'offer withdrawn',
    sentence: 'Every source that offered it has withdrawn it.',
    formatStanding: (day) => `withdrawn${on(day)}`,
    ends: 'when a source offers it again',
  },
  probes_failing: {
    severity: 'notice',
    label: 'probes failing',
    sentence: 'Our probes get no valid 402 from it.',
    formatStanding: (day) => `no valid 402${since(day)}`,
    ends: 'with the next valid 402',
    isMoving: true,
  },
  prices_differ: {
    severity: 'notice',
    label: 'documents differ in price',
    sentence: 'Two documents of its provider state different prices.',
    formatStanding: (day) => `documents differ in price${since(day)}`,
    ends: 'when both state the same price, or one of them none',
  },
  never_seen: {
    severity: 'notice',
    label: 'terms never seen',
    sentence: 'The terms are only declared: no 402 of it was ever seen here.',
    formatStanding: (day) => `declared${day && ` ${day}`}, not seen yet`,
    ends: 'with the first valid 402',
    isFromStart: true,
    isMoving: true,
  },
  payee_rotates: {
    severity: 'notice',
    label: 'payee rotates',
    sentence: 'Each challenge names a fresh payee, so payees cannot be compared.',
    formatStanding: (day) => `payee rotates${since(day)}`,
    ends: 'when it names one payee for three days',
  },
} as const satisfies Record<string, CautionMeaning>;

export type CautionCode = keyof typeof CAUTIONS;

/** Every code, the gravest first. */
export const CAUTION_CODES = Object.keys(CAUTIONS) as [CautionCode, ...CautionCode[]];
export const cautionCode = z.enum(CAUTION_CODES);

export const cautionSeverity = z.enum(['danger', 'notice']);
export type CautionSeverity = z.infer<typeof cautionSeverity>;

/** A provider's reply to a caution, in a file on its own host. */
export const providerReply = z.object({
  text: z.string().max(TEXT_LIMITS.reply).describe("Provider's words, not checked"),
  at: z.iso.datetime().describe('When it was first read'),
  source: z.string().describe('Address of the file that says so'),
});
export type ProviderReply = z.infer<typeof providerReply>;

/** Evidence of a caution; its fields depend on the caution's code. Amounts are atomic USDC. */
const cautionEvidence = z.object({
  receipt_id: z.string().optional().describe('The paid call: /agent/receipts/{id}'),
  network: networkKey.optional(),
  amount: z.int().positive().optional().describe('What was paid, or what is asked now, in atomic USDC'),
  public_chain: z.boolean().optional().describe('False for a local test chain, whose money is worth nothing'),
  reason: unrecognisedReason.optional().describe('Why the answer was not recognised'),
  amount_before: z.int().positive().optional().describe('The price on record before, in atomic USDC'),
  pay_to: z.string().optional().describe('The payee that is asked for now'),
  pay_to_before: z.string().optional().describe('The payee on record before'),
  network_before: networkKey.optional().describe('The network of that payee, where it is another one'),
  outcome: probeOutcome.optional().describe('What the latest probe saw'),
  failures: z.int().positive().optional().describe('Conclusive failures in a row'),
  valid_at: z.iso.datetime().optional().describe('The last valid 402; absent where none was ever seen'),
  source: z.string().optional().describe('The document that is believed'),
  source_other: z.string().optional().describe('The document that states another price'),
  amount_other: z.int().positive().optional().describe('The price that it states, in atomic USDC'),
  declared_at: z.iso.datetime().optional().describe('When a source last saw the terms; absent for an undated claim'),
  known_listing: z.string().optional().describe('Slug of the better known listing'),
  known_host: z.string().optional().describe('Its host'),
  said_by_others: z.literal(true).optional().describe('There where only others than the provider name the route'),
});
export type CautionEvidence = z.infer<typeof cautionEvidence>;

/** A caution about a route or a whole listing: its evidence, and the time since when it holds. */
export const caution = z
  .object({
    code: cautionCode,
    severity: cautionSeverity.describe('danger: do not pay. notice: worth knowing before paying'),
    since: z.iso.datetime().nullable().describe('Since when it holds; null where the claim has no date'),
    evidence: cautionEvidence,
    reply: providerReply.nullable().describe("The provider's reply, where it published one"),
  })
  .meta({ id: 'Caution' });
export type Caution = z.infer<typeof caution>;

const MEANINGS: Readonly<Record<string, CautionMeaning>> = CAUTIONS;

/** Returns true if a caution holds from the declaration on, and is no news. */
export function isFromStart({ code }: { readonly code?: unknown }): boolean {
  return MEANINGS[String(code)]?.isFromStart === true;
}

/** Returns true if the time and evidence of a caution may change with every probe. */
export function isMoving({ code }: Pick<Caution, 'code'>): boolean {
  return MEANINGS[code]?.isMoving === true;
}

/** Returns true if any of these cautions means that nothing should be paid. */
export function isDangerous(cautions: readonly Pick<Caution, 'severity'>[]): boolean {
  return cautions.some(({ severity }) => severity === 'danger');
}

/** Returns the sentence of a caution for use within another: without a capital letter and full stop. */
export function getCautionPhrase(code: CautionCode): string {
  return lowerFirst(CAUTIONS[code].sentence.slice(0, -1));
}

/** Sorts cautions by severity, the gravest first. */
export function sortCautions(cautions: readonly Caution[]): Caution[] {
  return cautions.toSorted((a, b) => CAUTION_CODES.indexOf(a.code) - CAUTION_CODES.indexOf(b.code));
}
