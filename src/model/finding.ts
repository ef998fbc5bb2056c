import { z } from 'zod';

/** Why an item, or a part of it, was not taken as it came. `refused`: left out. `noted`: taken, with this said of it. */
export const finding = z.object({
  code: z.string().regex(/^[a-z0-9_]+$/),
  severity: z.enum(['refused', 'noted']),
  /** What the finding is about, as the source names it: an address, a file, `items[3]`. */
  item: z.string(),
  message: z.string(),
});
export type Finding = z.infer<typeof finding>;
