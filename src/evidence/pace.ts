/** A listing that answers is sampled once in so many milliseconds: six hours. */
export const ROUND_MS = 6 * 60 * 60 * 1000;
