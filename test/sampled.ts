import type { Catalogue } from '../src/catalogue/database.ts';
import { findListing } from '../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../src/catalogue/transaction.ts';
import { publishSampled } from '../src/catalogue/write/probed.ts';
import { judgeRounds } from '../src/catalogue/write/rounds.ts';
import { recordSample } from '../src/catalogue/write/samples.ts';
import type { ProbeSample } from '../src/model/probe.ts';
import { makeSample } from './records.ts';

/**
 * Records what probes of a listing's route saw, in the order given, each published at its own time. Without a path it is
 * the first route.
 */
export async function recordProbed(
  catalogue: Catalogue,
  slug: string,
  samples: readonly (Partial<ProbeSample> & { at: string })[],
  path?: string,
): Promise<void> {
  for (const sample of samples) {
    const listing = await findListing(catalogue, { slug });
    const route = listing?.routes.find((candidate) => path === undefined || candidate.path === path);
    if (!listing || !route) throw new Error(`no route ${path} in ${slug}`);
    const taken = { listing_id: listing.id, route_id: route.id, host: new URL(listing.base_url).origin, prober: 'one' };
    await writeCatalogue(catalogue, sample.at, async (writing) => {
      await recordSample(writing, taken, makeSample(sample), sample.at);
      await judgeRounds(writing);
      await publishSampled(writing, 1, { fresh: true });
    });
  }
}
