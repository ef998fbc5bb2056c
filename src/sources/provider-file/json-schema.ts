import { formatJsonSchema } from '../manifest-json-schema.ts';
import { PROVIDER_FILE_PATH, providerFile } from './schema.ts';

/** Writes the JSON Schema (2020-12) of a provider's statement, by which editors check and complete it. */
export function formatProviderFileJsonSchema(): string {
  return formatJsonSchema(providerFile, {
    title: "Provider's statement",
    description: `What a provider wants of its listings, published on its own host at ${PROVIDER_FILE_PATH}.`,
  });
}
