import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { z } from 'zod';
import { ServiceError } from '../../src/errors.ts';
import type { Declaration, Finding } from '../../src/model/declaration.ts';
import { findCodeWords } from '../../src/model/finding.ts';
import { readApiDocument } from '../../src/sources/api-document.ts';
import { mergeFeedItems, parseFeedItem } from '../../src/sources/bazaar/feed.ts';
import { parseFeedPage } from '../../src/sources/bazaar/pull.ts';
import { listChallengeFindings } from '../../src/sources/challenge-findings.ts';
import { parseManifest } from '../../src/sources/manifest.ts';
import { readChallenge } from '../../src/x402/read-challenge.ts';
import { OPTIONS } from './bazaar/items.ts';
import { listTextless } from './textless.ts';

const FOLDER = join(import.meta.dirname, 'odd');
const URL_OF_FILE = 'https://api.tides.example/.well-known/x402';

/** A document with one defect: the finding that it causes, where, and the document with the fix applied. */
const oddDocument = z.strictObject({
  kind: z.enum(['feed', 'document', 'header', 'rawheader', 'body', 'manifest']),
  code: z.string(),
  place: z.string(),
  document: z.string(),
  fixed: z.string(),
});
type Kind = z.infer<typeof oddDocument>['kind'];

const cases = readdirSync(FOLDER)
  .sort()
  .map((name) => ({ name, ...oddDocument.parse(parse(readFileSync(join(FOLDER, name), 'utf8'))) }));

/** Reads a document of a kind. `routes` counts what would be listed, or can be paid. */
function readKind(kind: Kind, text: string): { findings: Finding[]; routes: number } {
  const bytes = Buffer.from(text);
  if (kind === 'feed') {
    const { items } = parseFeedPage(bytes, 'The feed');
    const parsed = items.map((raw, index) => parseFeedItem(raw, OPTIONS, `/items/${index}`));
    const read = mergeFeedItems(parsed, OPTIONS);
    return { findings: read.findings, routes: countRoutes(read.declarations) };
  }
  if (kind === 'document') {
    const options = { ...OPTIONS, name: URL_OF_FILE, url: URL_OF_FILE, base_url: null, now: OPTIONS.pulledAt };
    const read = readApiDocument(bytes, options);
    if (!('code' in read)) return { findings: read.findings, routes: countRoutes(read.declarations) };
    const { code, message, place } = read;
    return {
      findings: [{ severity: 'refused', item: URL_OF_FILE, code, message, ...(place && { place }) }],
      routes: 0,
    };
  }
  if (kind === 'manifest') {
    const { findings, declaration } = parseManifest(text, 'tides.yaml', { ...OPTIONS, now: OPTIONS.pulledAt });
    return { findings, routes: countRoutes(declaration ? [declaration] : []) };
  }
  const headers = new Headers();
  if (kind !== 'body') headers.set('payment-required', kind === 'header' ? bytes.toString('base64') : text);
  const reading = readChallenge({ headers, body: kind === 'body' ? bytes : new Uint8Array() });
  const routes = reading.kind === 'challenge' ? reading.challenge.offers.length : 0;
  return { findings: listChallengeFindings(reading, 'GET https://api.tides.example/v1/height'), routes };
}

function countRoutes(declarations: readonly Declaration[]): number {
  return declarations.flatMap(({ routes }) => routes).length;
}

it('are at least sixty, each with a defect of its own', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(cases.map(({ kind, document }) => `${kind} ${document}`)).size).toBe(cases.length);
});

it.each(cases)(
  '$name is found as $code at $place, and no more once it is fixed',
  ({ kind, code, place, document, fixed }) => {
    const odd = readKind(kind, document);
    const found = odd.findings.filter((finding) => finding.code === code);
    expect(odd.findings.map((finding) => finding.code)).toContain(code);
    expect(found.map((finding) => finding.place ?? '')).toContain(place);
    expect(findCodeWords(code)?.fix).toMatch(/^[A-Z].+\.$/);
    const good = readKind(kind, fixed);
    expect(good.findings.map((finding) => finding.code)).not.toContain(code);
    expect(good.findings.filter(({ severity }) => severity === 'refused')).toEqual([]);
    expect(good.routes).toBeGreaterThan(0);
  },
);

it.each(cases)('$name is read, or refused, whichever of its values has no text', ({ kind, document, fixed }) => {
  const values = [document, fixed].map((text) => parseDocument(text)).filter(({ errors }) => errors.length === 0);
  for (const value of values.map((one) => one.toJS())) {
    for (const replaced of listTextless(value)) {
      const text = JSON.stringify(replaced);
      try {
        readKind(kind, text);
      } catch (error) {
        expect(error, text).toBeInstanceOf(ServiceError);
      }
    }
  }
});
