import { LRUCache } from 'lru-cache';
import { listMissing } from '../evidence/abilities.ts';
import { parseAbilities } from '../model/ability.ts';
import type { NetworkKey } from '../model/network.ts';
import type { Columns } from './columns.ts';
import type { Published } from './file.ts';
import { narrowRouteFacts, type PayableOffer } from './route-facts.ts';

/** For how many kinds of client the columns are kept, of one snapshot. */
const KEPT_CLIENTS = 8;

const columnsOf = new WeakMap<Columns, LRUCache<string, Columns>>();

/**
 * Returns the columns as they are for a client: the prices of routes are those of the offers that it can pay, and a route
 * without one has no price. `can` is what it can do, as a reader writes it. Call it while the file stays at the revision
 * of the columns.
 */
export function narrowColumns(published: Published, columns: Columns, can: string): Columns {
  const kept = columnsOf.get(columns) ?? new LRUCache<string, Columns>({ max: KEPT_CLIENTS });
  columnsOf.set(columns, kept);
  const abilities = parseAbilities(can);
  const key = [...abilities].sort().join();
  const known = kept.get(key);
  if (known) return known;
  const narrowed = {
    ...columns,
    routes: narrowRouteFacts(columns.routes, iteratePayable(published, columns, abilities)),
  };
  kept.set(key, narrowed);
  return narrowed;
}

/** Goes through the offers that a client can pay. There are few different lists of needs, so each is compared once. */
function* iteratePayable(published: Published, { places }: Columns, can: ReadonlySet<string>): Generator<PayableOffer> {
  const rows = published.prepare<{
    listing: number;
    position: number;
    network: NetworkKey;
    amount: number;
    needs: string;
  }>('SELECT listing, position, network, amount, needs FROM offers');
  const answers = new Map<string, boolean>();
  for (const { listing, position, network, amount, needs } of rows.iterate()) {
    const isPayable = answers.get(needs) ?? listMissing(needs.split(' '), can).length === 0;
    answers.set(needs, isPayable);
    const place = places[listing] ?? -1;
    if (isPayable && place >= 0) yield { place, position, network, amount };
  }
}
