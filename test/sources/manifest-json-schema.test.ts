import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { PROVIDER_FILE_PATH } from '../../src/model/source.ts';
import { manifest } from '../../src/sources/manifest-text.ts';
import { providerFile } from '../../src/sources/provider-file/parse.ts';
import { expectGolden } from '../golden.ts';

const FILE = join(import.meta.dirname, '../../data/manifest.schema.json');
const STATEMENT_FILE = join(import.meta.dirname, '../../data/agent-payable.schema.json');

/** Builds the JSON Schema (2020-12) of a format, with which editors check and complete files. */
function buildJsonSchema(type: z.ZodType, words: { title: string; description: string }): object {
  const schema = z.toJSONSchema(type, { target: 'draft-2020-12', io: 'input' });
  return { $schema: schema.$schema, ...words, ...schema };
}

// `npm run schema` writes the files after a change to the fields.
it('the published schema of manifests is what the code checks', async () => {
  const description = 'One API that agents pay for per request in USDC: facts only.';
  await expectGolden(buildJsonSchema(manifest, { title: 'Listing manifest', description }), FILE);
});

it('the published schema has a field list, closed, and takes prices as text or number', () => {
  const schema = JSON.parse(readFileSync(FILE, 'utf8'));
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    required: ['name', 'base_url', 'tagline'],
    additionalProperties: false,
  });
  expect(schema.properties.routes.items.properties.price_usdc.type).toEqual(['string', 'number']);
});

it('the published schema of statements is what the code checks', async () => {
  const description = `What a provider wants of its listings, published on its own host at ${PROVIDER_FILE_PATH}.`;
  await expectGolden(buildJsonSchema(providerFile, { title: "Provider's statement", description }), STATEMENT_FILE);
});

it('the published schema of statements takes the facts of a manifest, except fields that providers may not set', () => {
  const { properties, required, additionalProperties } = JSON.parse(readFileSync(STATEMENT_FILE, 'utf8'));
  expect([required, additionalProperties]).toEqual([['version', 'listings'], false]);
  const entry = properties.listings.items;
  expect([entry.required, entry.additionalProperties]).toEqual([['listed'], false]);
  const ofManifest = JSON.parse(readFileSync(FILE, 'utf8'));
  const { slug: _slug, base_url: _base, observed: _observed, ...shared } = ofManifest.properties;
  expect(entry.properties.facts.properties).toEqual(shared);
});
