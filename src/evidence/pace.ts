/** A listing is sampled once in so many milliseconds: six hours (design contract, "Reliability"). */
export const ROUND_MS = 6 * 60 * 60 * 1000;
