import { z } from 'zod';

/** The five categories, in the order documents list them (specification, "Catalogue summary"). */
export const CATEGORIES = ['Data', 'Finance', 'Intelligence', 'Tools', 'Verification'] as const;

export const category = z.enum(CATEGORIES);
export type Category = z.infer<typeof category>;
