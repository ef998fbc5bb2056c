import type { Catalogue } from '../../src/catalogue/database.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Terms } from '../../src/model/terms.ts';
import { type AgentCheck, agentCheck } from '../../src/views/check.ts';
import { makeDeclaration, makeTerms } from '../builders.ts';
import { makeCopied, makeRecorded } from '../recorded.ts';
import { recordProbed } from '../sampled.ts';
import { declareListings } from '../written.ts';
import { serveLive } from './serving.ts';

export const CALLED = 'https://api.prices.example-provider.com/v1/price/x';

/** When the sources of these worlds saw what they say: two days before now. */
export const SEEN = '2026-11-18T12:00:00.000Z';

/** Makes a declaration that is as good as new. */
export function makeFresh(overrides: Partial<Declaration> = {}): Declaration {
  return makeDeclaration({ source: { kind: 'manifest', name: 'fresh.yaml', observed_at: SEEN }, ...overrides });
}

/** Records declarations in a catalogue, by default a new one. */
export async function recordAll(declarations: readonly Declaration[], given?: Catalogue): Promise<Catalogue> {
  if (!given) return makeRecorded(declarations);
  await declareListings(given, declarations);
  return given;
}

/** Records declarations in a new catalogue, and a probe of each that saw just what it declares. */
export async function recordSeen(declarations: readonly Declaration[]): Promise<Catalogue> {
  return makeCopied(`seen ${JSON.stringify(declarations)}`, async (made) => {
    await recordAll(declarations, made);
    for (const { slug, routes } of declarations) {
      for (const { path, terms } of routes) await recordProbed(made, slug ?? '', [{ at: SEEN, terms }], path);
    }
  });
}

/** Gives the parameters that ask about one offer. */
export function buildFields(terms: Terms, url = CALLED): Record<string, string> {
  const { network, asset, pay_to, amount, scheme } = terms;
  return { url, network, asset, pay_to: pay_to ?? '', amount: String(amount), scheme };
}

/** Builds an offer as a challenge of a version writes it. */
export function buildOffer(terms: Terms, version: 1 | 2, resource = CALLED): Record<string, unknown> {
  const { network, asset, pay_to, amount, scheme } = terms;
  const shared = { scheme, asset, payTo: pay_to, maxTimeoutSeconds: 60 };
  if (version === 2) return { ...shared, network: NETWORKS[network].id, amount: String(amount), extra: {} };
  return { ...shared, network, maxAmountRequired: String(amount), resource, description: '', mimeType: '' };
}

/** Builds a challenge of some offers. */
export function buildChallenge(offers: readonly Terms[], version: 1 | 2 = 2, resource = CALLED) {
  const accepts = offers.map((offer) => buildOffer(offer, version, resource));
  return version === 1 ? { x402Version: 1, accepts } : { x402Version: 2, resource: { url: resource }, accepts };
}

/** Writes JSON as the header of version 2 carries it. */
export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Serves a catalogue and asks it, as fields and as a challenge; every answer is held against its documented shape. */
export async function serveChecks(catalogue: Catalogue, now?: () => Date) {
  const served = await serveLive(catalogue, now);
  const parse = async (response: Response): Promise<AgentCheck> => {
    const body: unknown = await response.json();
    return agentCheck.strict().parse(body);
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    served.fetch('/agent/check', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return {
    ...served,
    post,
    checkFields: async (fields: Record<string, string>) =>
      parse(await served.get(`/agent/check?${new URLSearchParams(fields)}`)),
    checkOffers: async (offers: readonly Terms[], rest: Record<string, string> = {}) =>
      parse(await post({ url: CALLED, challenge: buildChallenge(offers), ...rest })),
    checkChallenge: async (challenge: unknown, rest: Record<string, string> = {}) =>
      parse(await post({ url: CALLED, challenge, ...rest })),
  };
}

/** Solana's terms beside Base's. */
export function makeSolanaTerms(overrides: Partial<Terms> = {}): Terms {
  const pay_to = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
  return makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to, ...overrides });
}
