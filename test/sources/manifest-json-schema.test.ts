import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildManifestJsonSchema } from '../../src/sources/manifest-schema.ts';
import { buildProviderFileJsonSchema } from '../../src/sources/provider-file/schema.ts';
import { expectGolden } from '../golden.ts';

const FILE = join(import.meta.dirname, '../../data/manifest.schema.json');
const STATEMENT_FILE = join(import.meta.dirname, '../../data/agent-payable.schema.json');

// `npm run schema` writes the files after a change to the fields.
it('the published schema of manifests is what the code checks', async () => {
  await expectGolden(buildManifestJsonSchema(), FILE);
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
  await expectGolden(buildProviderFileJsonSchema(), STATEMENT_FILE);
});

it('the published schema of statements takes the facts of a manifest, except fields that providers may not set', () => {
  const { properties, required, additionalProperties } = JSON.parse(readFileSync(STATEMENT_FILE, 'utf8'));
  expect([required, additionalProperties]).toEqual([['version', 'listings'], false]);
  const entry = properties.listings.items;
  expect([entry.required, entry.additionalProperties]).toEqual([['listed'], false]);
  const manifest = JSON.parse(readFileSync(FILE, 'utf8'));
  const { slug: _slug, base_url: _base, observed: _observed, ...shared } = manifest.properties;
  expect(entry.properties.facts.properties).toEqual(shared);
});
