/** The window in which a client's requests are counted. It begins with the client's first request. */
export const WINDOW_MS = 60_000;

/** So many clients are known at a time, at some 150 bytes each; the one whose window began first is forgotten for another. */
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
 * backwards. A thousand million clients cost no more memory than `maxClients`.
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
  // A window that ended is taken out and put in anew, so the windows stand in the order in which they end.
  const windows = new Map<string, Window>();
  const makeRoom = (time: number) => {
    for (const [client, { endsAt }] of windows) {
      if (endsAt > time && windows.size < maxClients) return;
      windows.delete(client);
    }
  };
  return (client) => {
    const time = now();
    let window = windows.get(client);
    if (window === undefined || window.endsAt <= time) {
      windows.delete(client);
      makeRoom(time);
      window = { count: 0, endsAt: time + WINDOW_MS };
      windows.set(client, window);
    }
    window.count += 1;
    return {
      isWithin: window.count <= limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.ceil((window.endsAt - time) / 1000),
    };
  };
}
