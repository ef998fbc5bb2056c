import { z } from 'zod';
import { category } from './catalogue.ts';
import { networkKey } from './network.ts';
import { declaredRoute } from './route.ts';
import { declarationSource } from './source.ts';

/** The declaration of one listing by one source. Text is already cleaned, addresses already checked. */
export const declaration = z.object({
  source: declarationSource,
  base_url: z.url(),
  /** Slug that the source asks for; without one it is made from `service_name`, else from the host. */
  slug: z.string().nullable(),
  service_name: z.string().nullable(),
  /** Title; empty, like each text, if the source has none. */
  title: z.string(),
  tagline: z.string(),
  description: z.string(),
  provider_name: z.string(),
  /** Category; null if it must be inferred from the text. */
  category: category.nullable(),
  /** Words by which a feed sorts the listing; absent if it has none. */
  tags: z.array(z.string()).optional(),
  mcp_endpoint: z.url().nullable(),
  docs_url: z.url().nullable(),
  /** Declared price range in atomic USDC and networks, for a listing whose routes are not itemised. */
  price: z.object({ min: z.int().positive(), max: z.int().positive() }).nullable(),
  networks: z.array(networkKey),
  routes: z.array(declaredRoute),
});
export type Declaration = z.infer<typeof declaration>;

/** A note on an item, or a part of it, that was not taken as it came. `refused`: left out. `noted`: taken, with this note. */
export const finding = z.object({
  code: z.string().regex(/^[a-z0-9_]+$/),
  severity: z.enum(['refused', 'noted']),
  /** The item of the finding, as the source names it: an address, a file, `items[3]`. */
  item: z.string(),
  message: z.string(),
  /** Place in the document: a JSON pointer, or a line. */
  place: z.string().optional(),
});
export type Finding = z.infer<typeof finding>;
