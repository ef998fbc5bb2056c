import { describe, expect, it } from 'vitest';
import { formatRoute } from '../../src/model/route.ts';
import { findListing, iterateRefs } from '../../src/published/listings.ts';
import { skipWithout } from '../skipped.ts';
import { openCorpus } from './corpus.ts';
import { getHalf, isRightRoute, readRequests, readTasks, readUnanswered } from './labelled.ts';

const tasks = readTasks();
const unanswered = readUnanswered();

describe('the labelled tasks', () => {
  it('are sentences of 10 to 30 words, each with right listings and routes', () => {
    expect(tasks.length).toBeGreaterThanOrEqual(100);
    expect(tasks.filter(({ q }) => countWords(q) < 10 || countWords(q) > 30)).toEqual([]);
    const bare = tasks.filter(
      ({ routes }) => routes.size === 0 || [...routes.values()].some(({ length }) => length < 1),
    );
    expect(bare).toEqual([]);
  });

  it('name listings and routes that the catalogue has', async (context) => {
    skipWithout('corpus', context);
    const { published } = await openCorpus();
    const live = [...iterateRefs(published)].flatMap(({ slug }) => {
      const listing = findListing(published, slug);
      return listing
        ? listing.routes.map((route) => [new URL(listing.base_url).host, formatRoute(route)] as const)
        : [];
    });
    expect(live.length).toBeGreaterThan(900);
    const unknown = tasks.flatMap((task) =>
      [...task.routes].flatMap(([host, names]) =>
        names
          .map((name) => ({ ...task, routes: new Map([[host, [name]]]) }))
          .filter((label) => !live.some(([liveHost, route]) => isRightRoute(label, liveHost, route)))
          .map(({ routes }) => [task.q, ...routes]),
      ),
    );
    expect(unknown, 'labels that name no route of a listing').toEqual([]);
  });
});

describe('the requests without an answer', () => {
  it('are 4 to 30 words without a label, half of them near and half far, beside short ones', () => {
    const short = unanswered.filter(({ distance }) => distance === 'short');
    const long = unanswered.filter(({ distance }) => distance !== 'short');
    expect(long.filter(({ q }) => typeof q !== 'string' || countWords(q) < 4 || countWords(q) > 30)).toEqual([]);
    expect(short.filter(({ q }) => typeof q !== 'string' || countWords(q) > 9)).toEqual([]);
    const near = long.filter(({ distance }) => distance === 'near').length;
    expect(near).toBeGreaterThanOrEqual(100);
    expect(long.length).toBe(2 * near);
    expect(short.length).toBeGreaterThanOrEqual(80);
  });
});

describe('all requests', () => {
  it('are there once', () => {
    const seen = [...readRequests(), ...tasks, ...unanswered].map(({ q }) =>
      q.toLowerCase().replace(/[^\p{L}\d]+/gu, ' '),
    );
    expect(seen.filter((q, at) => seen.indexOf(q) !== at)).toEqual([]);
  });

  it('keep their half whatever is added: short ones by place, the others by their words', () => {
    const short = readRequests();
    expect(short.slice(0, 170).map(({ half }) => half)).toEqual(
      Array.from({ length: 170 }, (_, at) => (at % 2 === 0 ? 'tuning' : 'set aside')),
    );
    // Their SHA-256 begin with 3e and c7.
    expect(getHalf('convert a pdf to text')).toBe('tuning');
    expect(getHalf('ocr for scanned documents')).toBe('set aside');
    const long = [...tasks, ...unanswered];
    expect(long.filter(({ q, half }) => half !== getHalf(q))).toEqual([]);
    for (const group of [tasks, unanswered]) {
      const share = group.filter(({ half }) => half === 'tuning').length / group.length;
      expect(share).toBeGreaterThan(0.4);
      expect(share).toBeLessThan(0.6);
    }
  });
});

function countWords(text: string): number {
  return text.split(/\s+/).length;
}
