import { z } from 'zod';

/**
 * Any JSON object, kept as the source gave it: a provider's schema is the provider's own. It has a file of its own, so that
 * a thread that judges one answer need not load the schema library.
 */
export const jsonObject = z.record(z.string(), z.unknown());
