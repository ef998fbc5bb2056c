import { openBuyer } from '../market/buyer.ts';
import { startMarket } from '../market/market.ts';
import { MAP_MATH } from '../market/providers/map-math.ts';

/**
 * Facts that a benchmark needs of the market in this process: addresses, and the key of a wallet with money on its
 * chain.
 */
export interface MarketPlace {
  rpcUrl: string;
  sellerUrl: string;
  payee: string;
  privateKey: `0x${string}`;
}

const market = await startMarket({ plans: [MAP_MATH], solana: false });
const { evmPrivateKey: privateKey } = await openBuyer(market, 1_000_000_000n);
const [seller] = market.providers;
const place: MarketPlace = {
  rpcUrl: market.base.rpcUrl,
  sellerUrl: seller?.url ?? '',
  payee: seller?.payees.base ?? '',
  privateKey,
};
process.send?.(place);
process.once('disconnect', () => void market.stop().then(() => process.exit(0)));
