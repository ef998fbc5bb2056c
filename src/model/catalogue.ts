import { z } from 'zod';

/** The five categories, in the order documents list them (specification, "Catalogue summary"). */
export const CATEGORIES = ['Data', 'Finance', 'Intelligence', 'Tools', 'Verification'] as const;

export const category = z.enum(CATEGORIES);
export type Category = z.infer<typeof category>;

/**
 * The catalogue summary, the very object in the OpenAPI document and in `/agent/list` (specification, "Catalogue
 * summary").
 */
export const catalogueSummary = z
  .object({
    live_listings: z.int().nonnegative().describe('Number of live listings'),
    settlement_verified: z.int().nonnegative().describe('Number of those that are settlement-verified'),
    categories: z.array(category).describe('Allowed values of a category'),
    generated_at: z.iso.datetime({ precision: 3 }).describe('Time this document was generated'),
    source: z.url().describe('Address of the GET /agent/list endpoint'),
  })
  .meta({ id: 'CatalogueSummary' });
export type CatalogueSummary = z.infer<typeof catalogueSummary>;
