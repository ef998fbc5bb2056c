import { z } from 'zod';
import { type CautionCode, cautionCode } from '../../model/caution.ts';
import type { Declaration, Finding } from '../../model/declaration.ts';
import { httpMethod } from '../../model/request.ts';
import { PROVIDER_FILE_PATH } from '../../model/source.ts';
import { TEXT_LIMITS } from '../../model/text.ts';
import { removeInvisible } from '../clean-string.ts';
import { buildJsonSchema, getMapping, manifest } from '../manifest-schema.ts';
import type { Path } from '../manifest-text.ts';

/** Most listings in one statement. */
export const MAX_LISTINGS = 32;

const address = (description: string) => z.string().describe(description).meta({ format: 'uri-reference' });

/** The facts that a provider may state: those of a manifest, except fields that only the catalogue or others can fill. */
const providerFacts = manifest
  .omit({ slug: true, base_url: true, observed: true })
  .describe('The listing in words and routes; a manifest without base_url, slug and observed');

/** Most replies in one entry. */
export const MAX_REPLIES = 20;

/** A route as the catalogue writes it: method, space, path. */
const ROUTE = new RegExp(`^(?:${httpMethod.options.join('|')}) /\\S{0,499}$`);

/** A provider's reply to one caution. */
const providerReply = z.strictObject({
  caution: cautionCode.describe('The caution that this replies to'),
  route: z
    .string()
    .regex(ROUTE, 'a method and a path as the catalogue writes them, such as GET /v1/x')
    .refine((text) => removeInvisible(text) === text, 'a method and a path without invisible characters')
    .describe(
      'Method and path as the catalogue writes them, such as GET /v1/x; without it, that caution of the whole listing and all its routes',
    )
    .optional(),
  text: z
    .string()
    .min(1)
    .max(TEXT_LIMITS.reply)
    .describe(`Your reply in plain text on one line, shown as your words; ${TEXT_LIMITS.reply} characters at most`),
});

/** A provider's wishes for one listing of its own host. */
export const providerEntry = z.strictObject({
  base_url: address(
    "Base address of the listing; default: the host's origin. Of the same origin as this file",
  ).optional(),
  listed: z.boolean().describe('true: list it, correct it, or put it back. false: remove it, and keep it out'),
  openapi: address(
    'With listed: true: list what this document says. OpenAPI 3 with x-payment-info, or a list of x402 resources; of the same origin as this file',
  ).optional(),
  facts: providerFacts.optional(),
  reason: z.string().describe('With listed: false: why, in words that readers see').optional(),
  replies: z
    .array(providerReply)
    .max(MAX_REPLIES)
    .describe('What you reply to cautions about this listing, shown beside them')
    .optional(),
});

/** An entry without its replies, which are read one by one so that a bad one does not affect the others. */
export const providerEntryFacts = providerEntry.omit({ replies: true });
export type ProviderEntryFacts = z.infer<typeof providerEntryFacts>;

/** A reply as written. The length of its text is checked after cleaning. */
export const writtenReply = providerReply.extend({ text: z.string() });

/** The whole statement. */
export const providerFile = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  listings: z.array(providerEntry).max(MAX_LISTINGS),
});

/** Returns the name and fields of a mapping in an entry: the entry itself, its facts, or a part of them. */
export function getEntryMapping(path: Path): { label: string; fields: string[] } {
  if (path.length === 0) return { label: 'an entry of listings', fields: Object.keys(providerEntry.shape) };
  const isFacts = path.length === 1 && path[0] === 'facts';
  return isFacts ? { label: 'facts', fields: Object.keys(providerFacts.shape) } : getMapping(path);
}

/** Builds the JSON Schema (2020-12) of a provider's statement, with which editors check and complete it. */
export function buildProviderFileJsonSchema(): object {
  return buildJsonSchema(providerFile, {
    title: "Provider's statement",
    description: `What a provider wants of its listings, published on its own host at ${PROVIDER_FILE_PATH}.`,
  });
}

/** A provider's reply to a caution. */
export interface StatedReply {
  caution: CautionCode;
  /** Method and path as the catalogue writes them; null: that caution of the whole listing and all its routes. */
  route: string | null;
  /** The provider's words, cleaned, on one line. */
  text: string;
}

interface RequestBase {
  /** Its place in the file, such as `listings[0]`. */
  where: string;
  base_url: string;
  /** Its replies to cautions; null if they are not a list, so that the replies on record stay. */
  replies: StatedReply[] | null;
}

/** A provider's request for one listing: to list it, or to remove it and keep it out. */
export type ProviderRequest = RequestBase &
  (
    | {
        asks: 'remove';
        /** The provider's words, cleaned; null if it gives none. */
        reason: string | null;
      }
    | {
        asks: 'list';
        /**
         * Its declaration of the listing; null if it only asks to list it, or if the declaration could not be taken.
         */
        declaration: Declaration | null;
        /** True if its declaration could not be taken; then the earlier one still counts. */
        is_broken: boolean;
      }
  );

/** A provider's statement. Everything in it is about its own origin and safe to apply. */
export interface ProviderStatement {
  kind: 'statement';
  /** Address of the statement, which is the name of the source. */
  url: string;
  listings: ProviderRequest[];
  /** Number of its entries, including refused ones. */
  entries: number;
  /** False if an entry could not be read. Then earlier declarations do not count as withdrawn. */
  is_whole: boolean;
  findings: Finding[];
}

/**
 * The absence of a statement, which has no consequences. `reason` is a stable code, such as `not_found` or `timeout`.
 */
export interface NoStatement {
  kind: 'absent';
  url: string;
  reason: string;
}

/** A statement that cannot be read. */
export interface UnreadableStatement {
  kind: 'unreadable';
  url: string;
  findings: Finding[];
}
