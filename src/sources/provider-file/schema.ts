import { z } from 'zod';
import { getMapping, manifest } from '../manifest-schema.ts';
import type { Path } from '../manifest-yaml.ts';

/** Listings that one statement may be about. */
export const MAX_LISTINGS = 32;

/** Where a provider states what it wants, on its own host (RFC 8615). */
export const PROVIDER_FILE_PATH = '/.well-known/agent-payable.json';

const address = (description: string) => z.string().describe(description).meta({ format: 'uri-reference' });

/** The facts that a provider states itself: a manifest's, less what is the catalogue's or somebody else's to say. */
export const providerFacts = manifest
  .omit({ slug: true, base_url: true, observed: true })
  .describe('The listing in words and routes; a manifest without base_url, slug and observed');

/** What a provider wants of one listing of its own host. */
export const providerEntry = z.strictObject({
  base_url: address(
    "Base address of the listing; default: the host's origin. Of the same origin as this file",
  ).optional(),
  listed: z.boolean().describe('true: list it, correct it, or put it back. false: take it out and keep it out'),
  openapi: address(
    'With listed: true: list what this document says. OpenAPI 3 with x-payment-info, or a list of x402 resources; of the same origin as this file',
  ).optional(),
  facts: providerFacts.optional(),
  reason: z.string().describe('With listed: false: why, in words that readers see').optional(),
});
export type ProviderEntry = z.infer<typeof providerEntry>;

/** The whole statement. */
export const providerFile = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  listings: z.array(providerEntry).max(MAX_LISTINGS),
});

/** Names the mappings of an entry for messages: the entry itself, its facts, and what is in them. */
export function getEntryMapping(path: Path): { label: string; fields: string[] } {
  if (path.length === 0) return { label: 'an entry of listings', fields: Object.keys(providerEntry.shape) };
  const isFacts = path.length === 1 && path[0] === 'facts';
  return isFacts ? { label: 'facts', fields: Object.keys(providerFacts.shape) } : getMapping(path);
}
