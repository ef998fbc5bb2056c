/** What became of listings on one day (UTC) on which any of them moved. */
export interface ListingDay {
  readonly day: string;
  /** Went live. */
  readonly listed: number;
  /** Delisted, or held back. */
  readonly taken_out: number;
  /** Got their first verified route, or came back with one. */
  readonly verified: number;
  /** Lost their last verified route, or were taken out with it. */
  readonly unverified: number;
}

/** How the hosts that were asked in the rounds of one day (UTC) came out. A host counts once a round. */
export interface RoundDay {
  readonly day: string;
  /** Hosts asked, by round, in the rounds whose failures were not ours. */
  readonly asked: number;
  /** Of those how many gave a valid 402. */
  readonly valid: number;
  /** Rounds of that day that are left out because the fault was ours. */
  readonly our_rounds: number;
}
