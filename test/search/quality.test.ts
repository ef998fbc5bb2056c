import { describe, expect, it } from 'vitest';
import { getItem, iterateRefs, type ListingRef } from '../../src/published/listings.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { HAS_CORPUS, openCorpus } from './corpus.ts';
import { findPlace, getQuality, isRight, readRequests } from './labelled.ts';

if (!HAS_CORPUS) console.info('Not run: labelled requests, because the corpus is not beside the project.');

describe.skipIf(!HAS_CORPUS)('the labelled requests over real listings', () => {
  it('are answered as well as they ever were, the half set aside too', async () => {
    const reading = await openCorpus();
    const snapshot = reading.getSnapshot();
    const getHost = (listing: ListingRef) => new URL(getItem(reading.published, listing).base_url).host;
    const hosts = Array.from(iterateRefs(reading.published), getHost);
    const find = (q: string) => {
      const { listings, total } = selectListings(reading.published, snapshot, listQuery.parse({ q, limit: 1000 }));
      return { total, hosts: listings.map(getHost) };
    };
    const answered = readRequests().map((request) => ({ request, ...find(request.q) }));

    const strange = answered.flatMap(({ request }) =>
      request.right.filter((label) => !hosts.some((host) => isRight({ ...request, right: [label] }, host))),
    );
    expect(strange, 'labels that name no listing').toEqual([]);

    const table = (['tuning', 'set aside'] as const).map((half) => {
      const ofHalf = answered.filter(({ request }) => request.half === half);
      const matching = ofHalf.reduce((sum, { total }) => sum + total, 0) / ofHalf.length;
      const places = ofHalf.map(({ request, hosts: found }) => findPlace(request, found));
      return { half, ...getQuality(places), matching: Math.round(matching) };
    });
    console.table(table);
    const [tuning, aside] = table;
    expect(tuning).toMatchObject({ requests: 85 });
    expect(tuning?.top_1).toBeGreaterThanOrEqual(0.77);
    expect(tuning?.top_5).toBeGreaterThanOrEqual(0.94);
    expect(tuning?.mrr).toBeGreaterThanOrEqual(0.85);
    expect(aside?.top_1).toBeGreaterThanOrEqual(0.71);
    expect(aside?.top_5).toBeGreaterThanOrEqual(0.92);
    expect(aside?.mrr).toBeGreaterThanOrEqual(0.79);
  });
});
