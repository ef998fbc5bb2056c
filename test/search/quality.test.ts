import { describe, expect, it } from 'vitest';
import { openOurs, openSample } from '../../scripts/bench/search.ts';
import { getItem, iterateRefs, type ListingRef } from '../../src/published/listings.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeFolder } from '../builders.ts';
import { skipWithout } from '../skipped.ts';
import { openCorpus } from './corpus.ts';
import { findPlace, getHalf, getQuality, isRight, readRequests } from './labelled.ts';

describe('the requests of the sample', () => {
  it('are answered as well as they ever were, with the right route, and told from those without an answer', async () => {
    const set = await openSample(makeFolder());
    const search = openOurs(set.reading);
    const getShare = (all: readonly boolean[]) => Number((all.filter(Boolean).length / all.length).toFixed(3));
    const figures = (['tuning', 'set aside'] as const).map((half) => {
      const found = set.requests
        .filter(({ q }) => getHalf(q) === half)
        .map(({ q, hosts, routes }) => ({ right: hosts, routes, found: search(q) }));
      const none = set.unanswerable.filter((q) => getHalf(q) === half).map(search);
      return {
        first: getShare(found.map(({ right, found: { hosts } }) => right.includes(hosts[0] ?? ''))),
        five: getShare(
          found.map(({ right, found: { hosts } }) => hosts.slice(0, 5).some((host) => right.includes(host))),
        ),
        shown: getShare(found.map(({ routes, found: { shown } }) => routes.includes(shown[0] ?? ''))),
        wronglyWeak: getShare(found.map(({ found: { isWeak } }) => isWeak === true)),
        rightlyWeak: getShare(none.map(({ isWeak }) => isWeak === true)),
      };
    });
    set.reading.published.close();
    console.table(figures);
    const [tuning, aside] = figures;
    expect(tuning?.first).toBeGreaterThanOrEqual(0.92);
    expect(tuning?.five).toBeGreaterThanOrEqual(0.96);
    expect(tuning?.shown).toBeGreaterThanOrEqual(0.88);
    expect(aside?.first).toBeGreaterThanOrEqual(0.85);
    expect(aside?.five).toBeGreaterThanOrEqual(0.9);
    expect(aside?.shown).toBeGreaterThanOrEqual(0.78);
    for (const half of figures) {
      expect(half.wronglyWeak).toBeLessThanOrEqual(0.06);
      expect(half.rightlyWeak).toBeGreaterThanOrEqual(0.4);
    }
  });
});

describe('the labelled requests over real listings', () => {
  skipWithout('corpus');

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
