import { getRoundStart } from '../evidence/rounds.ts';
import type { ListingDay, RoundDay } from '../model/market-day.ts';
import { type Catalogue, listRows } from './database.ts';

/** Lists the days on which listings came, went or changed their verification, the earliest first. */
export function listListingDays(catalogue: Catalogue): ListingDay[] {
  return listRows(catalogue, catalogue.query.selectFrom('listing_days').selectAll().orderBy('day'));
}

/** Lists the days on which routes were probed, the earliest first. Rounds are judged when what they saw is published. */
export function listRoundDays(catalogue: Catalogue): RoundDay[] {
  const rows = listRows(catalogue, catalogue.query.selectFrom('rounds').selectAll().orderBy('round'));
  const byDay = Map.groupBy(rows, ({ round }) => getRoundStart(round).slice(0, 10));
  return [...byDay].map(([day, rounds]) => {
    const counted = rounds.filter(({ ours }) => ours === 0);
    const sum = (key: 'hosts' | 'failing') => counted.reduce((total, round) => total + round[key], 0);
    const asked = sum('hosts');
    return { day, asked, valid: asked - sum('failing'), our_rounds: rounds.length - counted.length };
  });
}
