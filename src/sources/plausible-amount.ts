/**
 * Highest plausible price of one request, in atomic USDC: 1,000 USDC. The dearest of some thousand real offers asks 10
 * USDC, and the mistakes met (a figure with the wrong number of decimals) ask 100,000.
 */
export const MAX_PLAUSIBLE_AMOUNT = 1_000_000_000;
