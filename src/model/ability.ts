import { z } from 'zod';
import { nameNetworks } from './network.ts';

/** The x402 extensions that a client may support. */
export const EXTENSIONS = ['payment-identifier', 'sign-in-with-x'] as const;

/**
 * Abilities that a client may have, by kind. An offer needs at most one ability of each of the first four kinds, and any number
 * of the last kind.
 */
export const ABILITY_KINDS = {
  version: ['v1', 'v2'],
  family: ['evm', 'svm'],
  scheme: ['exact', 'upto', 'batch-settlement', 'auth-capture'],
  transfer: ['eip3009', 'permit2'],
  besides: ['usdc-domain', ...EXTENSIONS, 'mcp'],
} as const;

export const ABILITIES = Object.values(ABILITY_KINDS).flat();
export type Ability = (typeof ABILITIES)[number];

/** Returns true if a word names an ability. */
export function isAbility(word: string): word is Ability {
  return ABILITIES.some((ability) => ability === word);
}

/** Abilities of a client, separated by commas. */
export const abilityList = z
  .string()
  .refine(
    (text) => text.length <= 300 && splitAbilities(text).every(isAbility),
    `some of ${ABILITIES.join(', ')}, separated by commas`,
  );

/** Parses a text that `abilityList` accepts. */
export function parseAbilities(text: string): ReadonlySet<Ability> {
  return new Set(splitAbilities(text).filter(isAbility));
}

function splitAbilities(text: string): string[] {
  return text.split(',').map((word) => word.trim().toLowerCase());
}

/** Abilities that an offer needs. An entry that is not in `ABILITIES` cannot be claimed by any client. */
export const needs = z
  .array(z.string())
  .describe(
    `What a client must be able to do to pay this offer. v1, v2: the version of x402. evm, svm: signing on ${nameNetworks()}. ` +
      'exact, upto …: the scheme. eip3009, permit2: how the money moves. usdc-domain: knowing the EIP-712 domain ' +
      'of USDC, which the offer leaves out. payment-identifier, sign-in-with-x …: an extension that it requires. ' +
      'mcp: paying inside a tool call. facilitator, fee-payer: the offer leaves this out, so that no client can pay it. other-extension, other-flow: it ' +
      'requires an extension without a usable name, or a payment flow that no client knows',
  );
