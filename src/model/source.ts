import { z } from 'zod';

/**
 * Authority of a claim, the most trusted first: the host of the API itself, the operator of this catalogue, anybody else.
 * `evidence/authority.ts` defines what each may claim.
 */
export const AUTHORITIES = ['host', 'operator', 'hearsay'] as const;
export const authority = z.enum(AUTHORITIES);
export type Authority = z.infer<typeof authority>;

/** Names of the authorities for readers. */
export const AUTHORITY_WORDS: Readonly<Record<Authority, string>> = {
  host: "the API's own host says so",
  operator: 'the operator of this catalogue says so',
  hearsay: 'others say so',
};

/** A kind of source: its authority, and its words for readers. */
interface SourceKindEntry {
  /** Authority; `document`: that of the host from which it was fetched, or of the operator who handed it over. */
  readonly speaker: Authority | 'document';
  /** Heading: `The provider's OpenAPI document`. */
  readonly title: string;
  /** Reason of a change: `its provider says so`. */
  readonly says: string;
}

/** Every kind of source. */
export const SOURCES = {
  provider: { speaker: 'host', title: "The provider's own announcement", says: 'its provider says so' },
  openapi: { speaker: 'document', title: 'An OpenAPI document', says: 'an OpenAPI document says so' },
  x402_file: { speaker: 'document', title: 'An x402 file', says: 'an x402 file says so' },
  manifest: { speaker: 'operator', title: 'A manifest kept by the catalogue', says: 'a manifest says so' },
  bazaar: { speaker: 'hearsay', title: "A facilitator's discovery feed", says: 'a Bazaar feed says so' },
} as const satisfies Record<string, SourceKindEntry>;

export type SourceKind = keyof typeof SOURCES;
const SOURCE_KINDS = Object.keys(SOURCES) as [SourceKind, ...SourceKind[]];
const sourceKind = z.enum(SOURCE_KINDS);

/** Source of a declaration, and the time at which its content was seen (null: a bare claim, which is no evidence). */
export const declarationSource = z.object({
  kind: sourceKind,
  /** Address or file name of the source; one source has one declaration of a listing. */
  name: z.string(),
  observed_at: z.iso.datetime().nullable(),
  /** Place where it was seen, if not at the source itself: an address or a few words. */
  observed_in: z.string().optional(),
  /** Address of the host that a document speaks for; null if the operator handed it over or named what it lists. */
  speaker: z.url().nullable().optional(),
});
export type DeclarationSource = z.infer<typeof declarationSource>;

/** The public form of a source. */
export const listedSource = declarationSource.omit({ speaker: true }).extend({
  authority: authority.describe('Whose word it is: of the host itself, of the operator, or of somebody else'),
});
export type ListedSource = z.infer<typeof listedSource>;

/** The facts that sources state about a whole listing, and about one of its routes. */
const LISTING_FACTS = ['title', 'tagline', 'description', 'category', 'docs_url', 'mcp_endpoint', 'price'] as const;
const ROUTE_FACTS = ['route', 'description', 'input', 'output', 'example', 'price'] as const;
export type ListingFact = (typeof LISTING_FACTS)[number];
export type RouteFact = (typeof ROUTE_FACTS)[number];

/** Index in the listing's `sources` of the source of each fact; absent for facts that no source states. */
export const listingSaidBy = z.partialRecord(z.enum(LISTING_FACTS), z.int().nonnegative());
export const routeSaidBy = z.partialRecord(z.enum(ROUTE_FACTS), z.int().nonnegative());

/** Path on its own host at which a provider states what it wants of its listings (RFC 8615). */
export const PROVIDER_FILE_PATH = '/.well-known/agent-payable.json';
