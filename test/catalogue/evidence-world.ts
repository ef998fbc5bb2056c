import type { Catalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { endFreshening, startFreshening } from '../../src/catalogue/freshening.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { type PublicationResult, publishSampled } from '../../src/catalogue/publish-samples.ts';
import { recordSample } from '../../src/catalogue/record-sample.ts';
import { judgeRounds } from '../../src/catalogue/rounds.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/write.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import { makeCatalogue, makeDeclaration, makeSample } from '../builders.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Where the time of these tests begins: at the beginning of a round. */
export const START = Date.parse('2026-11-20T12:00:00.000Z');

/** Gives the time so many hours after the beginning, ISO 8601 UTC. */
export function getTime(hours: number): string {
  return new Date(START + hours * HOUR).toISOString();
}

export type Seen = Partial<ProbeSample> & { slug?: string; path?: string };

/** A catalogue with a clock: what is declared, what samples see at an hour, and what of that is published. */
export interface EvidenceWorld {
  catalogue: Catalogue;
  declare: (overrides?: Partial<Declaration>, hours?: number) => Listing;
  /** Records a sample of the first route, or of the one with that path. */
  see: (hours: number, seen?: Seen) => void;
  /** Judges the rounds and publishes, as a run does at its end. */
  publish: (hours: number) => PublicationResult[];
  /** Both. */
  look: (hours: number, seen?: Seen) => PublicationResult | undefined;
  find: (slug?: string) => Listing;
  getRevision: () => number;
}

export function makeWorld(catalogue = makeCatalogue()): EvidenceWorld {
  const find = (slug = 'example-prices') => {
    const listing = findListing(catalogue, { slug });
    if (!listing) throw new Error(`no listing ${slug}`);
    return listing;
  };
  const see = (hours: number, { slug, path, ...seen }: Seen = {}) => {
    const listing = find(slug);
    const route = path === undefined ? listing.routes[0] : listing.routes.find((one) => one.path === path);
    if (!route) throw new Error(`no route ${path} in ${listing.slug}`);
    const at = getTime(hours);
    const taken = { listing_id: listing.id, route_id: route.id, host: new URL(listing.base_url).origin };
    const next = getNextProbeAt({ at, failing_since: null, out_since: null, wait_until: null }, () => 0.5);
    writeCatalogue(catalogue, at, (writing) => recordSample(writing, taken, makeSample({ ...seen, at }), next));
  };
  const publish = (hours: number) => {
    const at = getTime(hours);
    writeCatalogue(catalogue, at, judgeRounds);
    const fresh = writeCatalogue(catalogue, at, startFreshening);
    const published: PublicationResult[] = [];
    for (;;) {
      const batch = writeCatalogue(catalogue, at, (writing) => publishSampled(writing, 100, { fresh }));
      published.push(...batch);
      if (batch.length === 0) break;
    }
    writeCatalogue(catalogue, at, endFreshening);
    return published;
  };
  return {
    catalogue,
    declare: (overrides, hours = 0) => {
      const { identity } = writeCatalogue(catalogue, getTime(hours), (writing) =>
        recordDeclaration(writing, makeDeclaration(overrides)),
      );
      return find(identity.slug);
    },
    see,
    publish,
    look: (hours, seen) => {
      see(hours, seen);
      const slug = seen?.slug ?? 'example-prices';
      return publish(hours).find((one) => one.slug === slug);
    },
    find,
    getRevision: () => getRevision(catalogue),
  };
}

/** Declares further listings, each at a host of its own, and gives their slugs. */
export function declareOthers({ declare }: EvidenceWorld, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const slug = `other-${index}`;
    declare({ slug, base_url: `https://other-${index}.example-provider.com` });
    return slug;
  });
}
