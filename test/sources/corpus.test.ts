import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/model/declaration.ts';
import { findCodeWords } from '../../src/model/finding.ts';
import { mergeFeedItems, parseFeedItem } from '../../src/sources/bazaar/feed.ts';
import { parseFeedPage } from '../../src/sources/bazaar/pull.ts';
import { listChallengeFindings } from '../../src/sources/challenge-findings.ts';
import { readChallenge } from '../../src/x402/read-challenge.ts';
import { skipWithout } from '../skipped.ts';
import { OPTIONS } from './bazaar/items.ts';
import { takeDocument } from './openapi/documents.ts';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus');

function load(path: string): Buffer {
  return readFileSync(join(CORPUS, path));
}

/** Returns what is wrong with findings themselves: without a place where one is known, or without a fix. */
function listUnexplained(findings: readonly Finding[], isPlaced: (finding: Finding) => boolean): string[] {
  return findings
    .filter((finding) => !findCodeWords(finding.code)?.fix || (isPlaced(finding) && !finding.place?.startsWith('/')))
    .map(({ code, item }) => `${code} ${item}`);
}

/** Reads a feed, and gives how its items ended. */
function accountFor(items: readonly unknown[]): { ends: Record<string, number>; findings: Finding[] } {
  const parsed = items.map((raw, index) => parseFeedItem(raw, OPTIONS, `/items/${index}`));
  const read = mergeFeedItems(parsed, { ...OPTIONS, isFile: true });
  const noted = new Set(read.findings.filter(({ severity }) => severity === 'noted').map(({ item }) => item));
  const refused = Map.groupBy(
    read.findings.filter(({ severity }) => severity === 'refused'),
    ({ item }) => item,
  );
  const ends: Record<string, number> = {};
  for (const outcome of read.outcomes) {
    if (outcome.outcome === 'refused') {
      const codes = refused.get(outcome.name)?.map(({ code }) => code) ?? [];
      expect(codes, outcome.name).toContain(outcome.code);
    }
    const end = outcome.outcome === 'taken' ? (noted.has(outcome.name) ? 'noted' : 'listed') : outcome.outcome;
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return { ends, findings: read.findings };
}

describe('every real item', () => {
  skipWithout('corpus');

  it('of a feed of a thousand is listed, noted or refused with a code, a place and a fix', () => {
    const { items } = parseFeedPage(load('bazaar-2026-03/resources.json'), 'The feed');
    const { ends, findings } = accountFor(items);
    expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(1_000);
    expect(Object.keys(ends).sort()).toEqual(['listed', 'noted', 'refused']);
    expect(ends.refused).toBe(45);
    expect(listUnexplained(findings, ({ code }) => code !== 'duplicate')).toEqual([]);
  });

  it('of four facilitators is accounted for', () => {
    const recorded: Record<string, unknown> = JSON.parse(load('bazaar-2026-08/discovery.json').toString());
    const pages = Object.entries(recorded).filter(([, page]) => typeof page === 'object');
    expect(pages).toHaveLength(4);
    for (const [name, page] of pages) {
      const { items } = parseFeedPage(Buffer.from(JSON.stringify(page)), name);
      const { ends, findings } = accountFor(items);
      expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(items.length);
      expect(listUnexplained(findings, ({ code }) => code !== 'duplicate')).toEqual([]);
    }
  });

  it("of a provider's own documents is a route or refused with a code", () => {
    for (const name of readdirSync(join(CORPUS, 'provider-openapi')).filter((file) => file.endsWith('.json'))) {
      const { items, findings, declarations } = takeDocument(load(`provider-openapi/${name}`));
      const { received, taken, duplicates, refused } = items;
      expect(taken + duplicates + refused).toBe(received);
      expect(declarations.flatMap(({ routes }) => routes)).toHaveLength(taken);
      expect(findings.filter(({ severity }) => severity === 'refused')).toHaveLength(refused);
      expect(listUnexplained(findings, ({ severity }) => severity === 'refused')).toEqual([]);
    }
  });

  it('of the recorded 402 answers can be paid, or has a refusal with its place', () => {
    const recorded = readdirSync(join(CORPUS, 'recorded-402')).filter((file) => file.endsWith('.json'));
    expect(recorded).toHaveLength(3);
    for (const name of recorded) {
      const { paymentRequiredHeader, wwwAuthenticate, body, x402Version, accepts } = JSON.parse(
        load(`recorded-402/${name}`).toString(),
      );
      const headers = new Headers();
      if (paymentRequiredHeader !== undefined) headers.set('payment-required', paymentRequiredHeader);
      if (wwwAuthenticate !== undefined) headers.set('www-authenticate', wwwAuthenticate);
      const sent = accepts ? { x402Version, accepts } : (body ?? {});
      const reading = readChallenge({ headers, body: Buffer.from(JSON.stringify(sent)) });
      const findings = listChallengeFindings(reading, name);
      const isPayable = reading.kind === 'challenge' && reading.challenge.offers.length > 0;
      expect(isPayable || findings.some(({ severity }) => severity === 'refused'), name).toBe(true);
      expect(findings.filter(({ place }) => place === undefined)).toEqual([]);
    }
  });
});
