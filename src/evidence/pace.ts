/** Time between two samples of a listing that answers, in milliseconds: six hours. */
export const ROUND_MS = 6 * 60 * 60 * 1000;
