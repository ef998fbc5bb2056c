import { z } from 'zod';
import { manifest } from './manifest-schema.ts';

/** Writes the JSON Schema (2020-12) of a manifest, by which editors check and complete the files. */
export function formatManifestJsonSchema(): string {
  const schema = z.toJSONSchema(manifest, { target: 'draft-2020-12', io: 'input' });
  const titled = {
    $schema: schema.$schema,
    title: 'Listing manifest',
    description: 'One API that agents pay for per request in USDC: facts only.',
    ...schema,
  };
  // Lists of words on one line, as the formatter would have them.
  const text = JSON.stringify(titled, null, 2).replace(/\[\s+([^[\]{}]+?)\s+\]/g, (_, words: string) => {
    return `[${words.replace(/\s*\n\s*/g, ' ')}]`;
  });
  return `${text}\n`;
}
