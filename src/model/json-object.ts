import { z } from 'zod';

/**
 * Any JSON object, kept as the source gave it, since a provider's schema is its own. It has its own file, so that a thread that
 * judges an answer need not load the schema library.
 */
export const jsonObject = z.record(z.string(), z.unknown());
