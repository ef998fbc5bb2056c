import { z } from 'zod';
import { manifest } from './manifest-schema.ts';

/** Writes the JSON Schema (2020-12) of a manifest, by which editors check and complete the files. */
export function formatManifestJsonSchema(): string {
  return formatJsonSchema(manifest, {
    title: 'Listing manifest',
    description: 'One API that agents pay for per request in USDC: facts only.',
  });
}

/** Writes the JSON Schema (2020-12) of what somebody outside writes, as it stands in a file of its own. */
export function formatJsonSchema(type: z.ZodType, words: { title: string; description: string }): string {
  const schema = z.toJSONSchema(type, { target: 'draft-2020-12', io: 'input' });
  // Lists of words on one line, as the formatter would have them.
  const text = JSON.stringify({ $schema: schema.$schema, ...words, ...schema }, null, 2).replace(
    /\[\s+([^[\]{}]+?)\s+\]/g,
    (_, list: string) => `[${list.replace(/\s*\n\s*/g, ' ')}]`,
  );
  return `${text}\n`;
}
