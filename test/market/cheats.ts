import type { Market } from '../../scripts/market/market.ts';
import type { CheatingSeller, CheatOptions } from './cheats/cheating.ts';
import { DELIVERY_CHEATS } from './cheats/delivery.ts';
import { openSeller } from './cheats/seller.ts';
import { TERMS_CHEATS } from './cheats/terms.ts';

/** All ways to cheat, each by its name. */
export const CHEATS = { ...DELIVERY_CHEATS, ...TERMS_CHEATS };
export type CheatName = keyof typeof CHEATS;

/** Opens a seller on loopback that cheats as named. Close it, or its connections stay open. */
export function openCheat(market: Market, name: CheatName, options: CheatOptions = {}): Promise<CheatingSeller> {
  return openSeller(market, CHEATS[name], options);
}
