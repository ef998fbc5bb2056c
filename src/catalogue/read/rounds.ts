import type { Catalogue } from '../database.ts';

/** Returns true if the failures that a prober saw in a round are judged to be our own fault. */
export async function isOurs({ query }: Catalogue, prober: string, round: number): Promise<boolean> {
  const row = await query
    .selectFrom('rounds')
    .select('ours')
    .where('round', '=', round)
    .where('prober', '=', prober)
    .executeTakeFirst();
  return row?.ours === 1;
}
