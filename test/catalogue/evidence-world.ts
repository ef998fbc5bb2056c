import type { Catalogue } from '../../src/catalogue/database.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { endFreshening, startFreshening } from '../../src/catalogue/write/probe-runs.ts';
import { type PublicationResult, publishSampled } from '../../src/catalogue/write/probed.ts';
import { judgeRounds } from '../../src/catalogue/write/rounds.ts';
import { recordSample, type SampledRoute } from '../../src/catalogue/write/samples.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import { makeCatalogue, makeDeclaration, makeSample } from '../builders.ts';
import { inTurn } from '../in-turn.ts';
import { recordDeclaration } from '../written.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Where the time of these tests begins: at the beginning of a round. */
const START = Date.parse('2026-11-20T12:00:00.000Z');

/** Gives the time so many hours after the beginning, ISO 8601 UTC. */
export function getTime(hours: number): string {
  return new Date(START + hours * HOUR).toISOString();
}

export type Seen = Partial<ProbeSample> & { slug?: string; path?: string; prober?: string };

/** The prober of samples that name none. */
export const PROBER = 'one';

/** A catalogue with a clock: what is declared, what samples see at an hour, and what of that is published. */
export interface EvidenceWorld {
  catalogue: Catalogue;
  declare: (overrides?: Partial<Declaration>, hours?: number) => Promise<Listing>;
  /** Records a sample of the first route, or of the one with that path. */
  see: (hours: number, seen?: Seen) => Promise<void>;
  /** Judges the rounds and publishes, as a run does at its end. */
  publish: (hours: number) => Promise<PublicationResult[]>;
  /** Both. */
  look: (hours: number, seen?: Seen) => Promise<PublicationResult | undefined>;
  find: (slug?: string) => Promise<Listing>;
  getRevision: () => Promise<number>;
}

export async function makeWorld(given?: Catalogue): Promise<EvidenceWorld> {
  const catalogue = given ?? (await makeCatalogue());
  const find = async (slug = 'example-prices') => {
    const listing = await findListing(catalogue, { slug });
    if (!listing) throw new Error(`no listing ${slug}`);
    return listing;
  };
  /** Routes that were sampled before: they are found again only after a declaration. */
  const targets = new Map<string, Omit<SampledRoute, 'prober'>>();
  const findTarget = async (slug?: string, path?: string) => {
    const key = JSON.stringify([slug, path]);
    const known = targets.get(key);
    if (known) return known;
    const listing = await find(slug);
    const route = path === undefined ? listing.routes[0] : listing.routes.find((one) => one.path === path);
    if (!route) throw new Error(`no route ${path} in ${listing.slug}`);
    const target = { listing_id: listing.id, route_id: route.id, host: new URL(listing.base_url).origin };
    targets.set(key, target);
    return target;
  };
  const see = async (hours: number, { slug, path, prober = PROBER, ...seen }: Seen = {}) => {
    const taken = { ...(await findTarget(slug, path)), prober };
    const at = getTime(hours);
    const next = getNextProbeAt({ at, failing_since: null, delisted_at: null, wait_until: null }, () => 0.5);
    await writeCatalogue(catalogue, at, (writing) => recordSample(writing, taken, makeSample({ ...seen, at }), next));
  };
  const publish = async (hours: number) => {
    const at = getTime(hours);
    await writeCatalogue(catalogue, at, judgeRounds);
    const fresh = await writeCatalogue(catalogue, at, startFreshening);
    const published: PublicationResult[] = [];
    for (;;) {
      const batch = await writeCatalogue(catalogue, at, (writing) => publishSampled(writing, 100, { fresh }));
      published.push(...batch);
      if (batch.length === 0) break;
    }
    await writeCatalogue(catalogue, at, endFreshening);
    return published;
  };
  return {
    catalogue,
    declare: async (overrides, hours = 0) => {
      targets.clear();
      const { identity } = await writeCatalogue(catalogue, getTime(hours), (writing) =>
        recordDeclaration(writing, makeDeclaration(overrides)),
      );
      return await find(identity.slug);
    },
    see,
    publish,
    look: async (hours, seen) => {
      await see(hours, seen);
      const slug = seen?.slug ?? 'example-prices';
      return (await publish(hours)).find((one) => one.slug === slug);
    },
    find,
    getRevision: () => getRevision(catalogue),
  };
}

/** Declares further listings, each at a host of its own, and gives their slugs. */
export async function declareOthers({ declare }: EvidenceWorld, count: number): Promise<string[]> {
  return await inTurn(Array.from({ length: count }), async (_, index) => {
    const slug = `other-${index}`;
    await declare({ slug, base_url: `https://other-${index}.example-provider.com` });
    return slug;
  });
}
