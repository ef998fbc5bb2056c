import { DEFAULT_NETWORK, NETWORKS, type NetworkEntry, type NetworkKey, networkKey } from '../model/network.ts';
import type { Receipt } from '../model/payment.ts';
import type { Route } from '../model/route.ts';
import { getCurrentTerms } from './terms.ts';
import { listCountedReceipts } from './verification.ts';

/**
 * A network that a listing without itemised routes is declared to take, and the time at which that was seen (null: a
 * bare claim).
 */
interface DeclaredNetwork {
  key: NetworkKey;
  observed_at: string | null;
}

export interface NetworkEvidence {
  /**
   * `silent`: the route failed so often in a row that it no longer counts as offered. `sightings`: times at which dated
   * sources saw the networks of its declared terms.
   */
  routes: readonly (Pick<Route, 'terms'> & {
    silent?: boolean;
    sightings?: readonly { readonly key: NetworkKey; readonly at: string }[];
  })[];
  /** Networks on which a route is verified now. */
  verified: ReadonlySet<NetworkKey>;
  declared: readonly DeclaredNetwork[];
  receipts: readonly Receipt[];
  /** Networks that the listing was ever published with. */
  known: readonly NetworkKey[];
  /** False if every source has withdrawn the listing: then declarations no longer make a network advertised. */
  offered: boolean;
}

/**
 * Builds the network entries of a listing: that of the default network always, another if it is or was offered. Only dated
 * evidence makes a network advertised; `last_seen_at` is null while it is not.
 */
export function buildNetworkEntries(evidence: NetworkEvidence): NetworkEntry[] {
  return networkKey.options
    .filter((key) => key === DEFAULT_NETWORK || wasOffered(key, evidence))
    .map((key) => {
      const { id, label } = NETWORKS[key];
      const lastSeenAt = findLastSeen(key, evidence);
      return {
        id,
        key,
        label,
        advertised: lastSeenAt !== null,
        ...(isDeclaredAlone(key, evidence) && { declared: true as const }),
        settlement_verified: evidence.verified.has(key),
        last_verified_at: getLatest(
          listCountedReceipts(evidence.receipts)
            .filter(({ network, delivered }) => network === key && delivered)
            .map(({ settled_at }) => settled_at),
        ),
        last_seen_at: lastSeenAt,
      };
    });
}

/**
 * Returns the network that a listing is shown under: the advertised one, else the one that its current terms or its
 * sources (`declared`) name, else the default one. Of several it is the first of the table.
 */
export function getPrimaryNetworkKey(
  entries: readonly NetworkEntry[],
  { routes, declared }: Pick<NetworkEvidence, 'routes' | 'declared'>,
): NetworkKey {
  const advertised = entries.filter((entry) => entry.advertised);
  const named = routes.flatMap(({ terms }) => getCurrentTerms(terms)).map(({ network }) => network);
  const keys = advertised.length > 0 ? advertised.map(({ key }) => key) : [...named, ...declared.map(({ key }) => key)];
  return networkKey.options.find((key) => keys.includes(key)) ?? DEFAULT_NETWORK;
}

function wasOffered(key: NetworkKey, { routes, declared, receipts, known }: NetworkEvidence): boolean {
  return (
    known.includes(key) ||
    routes.some(({ terms }) => terms.some(({ network }) => network === key)) ||
    declared.some((network) => network.key === key) ||
    receipts.some(({ network }) => network === key)
  );
}

/** Returns whether sources name a network now, and nothing dated ever showed it. */
function isDeclaredAlone(key: NetworkKey, { routes, declared, receipts, offered }: NetworkEvidence): boolean {
  const terms = routes.flatMap((route) => route.terms).filter(({ network }) => network === key);
  const claims = declared.filter((network) => network.key === key);
  const isNamed = getCurrentTerms(terms).length > 0 || claims.length > 0;
  const wasSeen =
    terms.some(({ last_seen_at }) => last_seen_at !== null) ||
    claims.some(({ observed_at }) => observed_at !== null) ||
    routes.some(({ sightings = [] }) => sightings.some((one) => one.key === key)) ||
    receipts.some(({ network }) => network === key);
  return offered && isNamed && !wasSeen;
}

function findLastSeen(key: NetworkKey, { routes, declared, offered }: NetworkEvidence): string | null {
  const seen = routes
    .filter(({ silent }) => !silent)
    .flatMap(({ terms, sightings = [] }) => {
      const current = getCurrentTerms(terms).filter(
        ({ network, evidence }) => network === key && (offered || evidence === 'observed'),
      );
      const isDeclared = current.some(({ evidence }) => evidence === 'declared');
      const dated = isDeclared ? sightings.filter((one) => one.key === key).map(({ at }) => at) : [];
      return [...current.map(({ last_seen_at }) => last_seen_at), ...dated];
    });
  const claimed = offered
    ? declared.filter((network) => network.key === key).map(({ observed_at }) => observed_at)
    : [];
  return getLatest([...seen, ...claimed]);
}

function getLatest(times: readonly (string | null)[]): string | null {
  return times.reduce((latest, time) => (time !== null && (latest === null || time > latest) ? time : latest), null);
}
