import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { findLive, getItem } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { PATHS } from '../../views/links.ts';
import { EXAMPLE_ITEM, NOWHERE } from '../../views/openapi/example.ts';
import { buildListingEntry, parseIdentifier, type RegistryEntry, registryEntry } from '../../views/registry.ts';
import { buildDocument } from '../document.ts';
import { defineRead, NO_QUERY } from './define.ts';
import { addErrorCode } from './registry-search.ts';

/** One entry of the registry of agent discovery. */
export const registryEntryEndpoint = defineRead({
  id: 'getRegistryEntry',
  path: PATHS.registryEntry('{identifier}'),
  summary: 'Registry of agent discovery: one entry by its identifier',
  description: 'ARD 0.91, section 5.3.4: exact, nothing is searched for.',
  params: {
    identifier: z.string().meta({
      description: 'identifier of an entry, percent-encoded as one segment',
      example: 'urn:air:catalogue.invalid:listing:example-prices',
    }),
  },
  query: NO_QUERY,
  answer: {
    description: 'The entry',
    schema: registryEntry,
    example: (site) => buildListingEntry(EXAMPLE_ITEM, { ...site, baseUrl: NOWHERE }),
  },
  failures: ['NotFound'],
  build: (_, { reading, snapshot, params: { identifier = '' } }) => {
    try {
      const entry = getEntry(reading, identifier);
      return buildDocument(JSON.stringify(entry), { revision: snapshot.revision });
    } catch (error) {
      throw addErrorCode(error);
    }
  },
});

function getEntry({ published, site }: Reading, identifier: string): RegistryEntry {
  const named = parseIdentifier(identifier, site);
  if (named && 'own' in named) return named.own;
  const listing = named && findLive(published, named.slug);
  if (listing) return buildListingEntry(getItem(published, listing), site);
  throw new ServiceError('not_found', 'There is no entry with this identifier.', {
    hint: `POST ${PATHS.search} finds entries; each names its identifier.`,
  });
}
