import { getRoundStart } from '../evidence/rounds.ts';
import type { ListingDay, RoundDay } from '../views/market.ts';
import type { Published } from './file.ts';

/** Lists the days on which listings came, went or changed their verification, the earliest first. */
export function listListingDays(published: Published): ListingDay[] {
  return published
    .prepare<ListingDay>('SELECT day, listed, taken_out, verified, unverified FROM listing_days ORDER BY day')
    .all();
}

interface Round {
  round: number;
  hosts: number;
  failing: number;
  ours: 0 | 1;
}

/** Lists the days on which routes were probed, the earliest first. */
export function listRoundDays(published: Published): RoundDay[] {
  const rows = published.prepare<Round>('SELECT round, hosts, failing, ours FROM rounds ORDER BY round').all();
  const byDay = Map.groupBy(rows, ({ round }) => getRoundStart(round).slice(0, 10));
  return [...byDay].map(([day, rounds]) => {
    const counted = rounds.filter(({ ours }) => ours === 0);
    const sum = (key: 'hosts' | 'failing') => counted.reduce((total, round) => total + round[key], 0);
    const asked = sum('hosts');
    return { day, asked, valid: asked - sum('failing'), our_rounds: rounds.length - counted.length };
  });
}
