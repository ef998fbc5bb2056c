import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatManifestJsonSchema } from '../../src/sources/manifest-json-schema.ts';

const FILE = join(import.meta.dirname, '../../data/manifest.schema.json');

// Run with `--update` after a change to the manifest's fields.
it('the published schema of manifests is what the code checks', async () => {
  await expect(formatManifestJsonSchema()).toMatchFileSnapshot(FILE);
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
