import { sql } from 'kysely';
import { getRound } from '../../evidence/rounds.ts';
import type { Catalogue } from '../database.ts';

/** Lists the rounds whose failures are judged to be our own fault. */
export async function listOurRounds({ query }: Catalogue): Promise<Set<number>> {
  const rows = await query.selectFrom('rounds').select('round').where('ours', '=', sql.lit(1)).execute();
  return new Set(rows.map(({ round }) => round));
}

/** Returns whether the failures in the round of a time (ISO 8601 UTC) are judged to be our own fault. */
export async function isOurRound(catalogue: Catalogue, at: string): Promise<boolean> {
  return await isOurs(catalogue, getRound(at));
}

/** Returns whether the failures in a round are judged to be our own fault. */
export async function isOurs({ query }: Catalogue, round: number): Promise<boolean> {
  const row = await query.selectFrom('rounds').select('ours').where('round', '=', round).executeTakeFirst();
  return row?.ours === 1;
}
