import { type Market, startMarket } from '../scripts/market/market.ts';

let market: Promise<Market> | undefined;

/**
 * Returns the market of this worker, with no sellers but those that a test opens. It ends with the worker. Whoever moves
 * the clock of its Base moves it back.
 */
export function getMarket(): Promise<Market> {
  market ??= startMarket({ plans: [] });
  return market;
}
