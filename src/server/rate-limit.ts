import { createGenerations } from './generations.ts';

/** The window in which a client's requests are counted. It begins with the client's first request. */
export const WINDOW_MS = 60_000;

/** So many clients are known at a time, at some 200 bytes each; of more the ones that asked last are. */
const MAX_CLIENTS = 100_000;

/** What a client has left. */
export interface Quota {
  /** Whether this request is within the limit. */
  readonly isWithin: boolean;
  /** Requests left in the window after this one. */
  readonly remaining: number;
  /** Seconds until the window ends, rounded up. */
  readonly resetSeconds: number;
}

/** Counts a request of a client. */
export type TakeQuota = (client: string) => Quota;

interface Window {
  count: number;
  readonly endsAt: number;
}

/**
 * Creates the count of requests by client: `limit` in each window. `now` gives milliseconds of a clock that never goes
 * backwards. However many clients ask, memory is that of `maxClients`.
 */
export function createRateLimit({
  limit,
  now = () => performance.now(),
  maxClients = MAX_CLIENTS,
}: {
  limit: number;
  now?: () => number;
  maxClients?: number;
}): TakeQuota {
  const windows = createGenerations<Window>(maxClients);
  let turnAt = now() + WINDOW_MS;
  return (client) => {
    const time = now();
    // After two turns every window of a generation is over.
    if (time >= turnAt) {
      windows.turn();
      turnAt = time + WINDOW_MS;
    }
    let window = windows.find(client);
    if (window === undefined || window.endsAt <= time) {
      window = { count: 0, endsAt: time + WINDOW_MS };
      windows.keep(client, window);
    }
    window.count += 1;
    return {
      isWithin: window.count <= limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.ceil((window.endsAt - time) / 1000),
    };
  };
}
