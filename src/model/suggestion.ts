import { z } from 'zod';

/** A filter or an order of the list that words of a request seem to name. It is offered, and never applied automatically. */
export const suggestion = z.object({
  parameter: z.enum(['max_price_usdc', 'network', 'verified', 'sort', 'host']),
  value: z.string().describe('As the parameter takes it'),
  words: z.string().describe('The words of the request that name it'),
});
export type Suggestion = z.infer<typeof suggestion>;
