import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { findLive, getItem, readSelected } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { selectListings } from '../../published/select.ts';
import { addPriceLimit } from '../../published/suggested.ts';
import { PATHS } from '../../views/links.ts';
import { buildItemExample, NOWHERE } from '../../views/openapi/example.ts';
import {
  buildListingEntry,
  buildRegistryAnswer,
  buildRegistryQuery,
  parseIdentifier,
  type RegistryEntry,
  registryAnswer,
  registryEntry,
  registryQuestion,
} from '../../views/registry.ts';
import { buildDocument } from '../document.ts';
import { buildProblem } from '../problem.ts';
import { defineQuestion, defineRead, type Endpoint, NO_QUERY, READ_AND_POST } from './define.ts';

const QUESTION = { query: { text: 'latest price of a symbol', filter: { tags: ['finance'] } }, pageSize: 1 };

/** The registry of agent discovery (ARD 0.91, section 5.3.2): finds the listed APIs for a need in plain words. */
export const registrySearchEndpoint = defineQuestion({
  id: 'searchRegistry',
  path: PATHS.search,
  summary: 'Registry of agent discovery: which listed APIs serve a need in plain words',
  description:
    'ARD 0.91, section 5.3.2: a question, nothing is written. metadata of each result names the route that fits best. ' +
    'A price in the text ("under 1 cent") is a limit. ' +
    `Errors carry errorCode and message besides. For all filters, ask ${PATHS.agentList}.`,
  body: { schema: registryQuestion, example: () => QUESTION },
  hints: { example: '{"query": {"text": "what you need"}}', shorten: 'Ask in fewer words.' },
  answer: {
    description: 'Entries, the best first',
    schema: registryAnswer,
    example: (site) => {
      const items = [{ ...buildItemExample(), match: 1 }];
      return buildRegistryAnswer(registryQuestion.parse(QUESTION), { items }, { ...site, baseUrl: NOWHERE });
    },
  },
  translate: addErrorCode,
  build: (question, { reading: { published, site }, snapshot }) => {
    const query = buildRegistryQuery(question, site);
    const selected = query && selectListings(published, snapshot, addPriceLimit(query));
    const items = selected ? readSelected(published, selected).map((item) => JSON.parse(item)) : [];
    const found = { items, next_cursor: selected?.next_cursor };
    return buildDocument(JSON.stringify(buildRegistryAnswer(question, found, site)), { revision: snapshot.revision });
  },
});

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
    example: (site) => buildListingEntry(buildItemExample(), { ...site, baseUrl: NOWHERE }),
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

/** The facets of the registry of agent discovery. There are none, so it answers 501, as the specification demands. */
export const registryExploreEndpoint: Endpoint = {
  path: PATHS.registryExplore,
  method: 'post',
  allow: READ_AND_POST,
  mount: ({ app }) =>
    app.use(PATHS.registryExplore, async (c, next) => {
      if (c.req.method !== 'POST') return next();
      const detail = 'This registry computes no facets.';
      const names = { errorCode: 'NOT_IMPLEMENTED', message: detail };
      return buildProblem({ status: 501, code: 'not_implemented', detail, ...names });
    }),
};

/** The specification's names of errors (Appendix B). */
const CODES: Partial<Record<ServiceError['code'], string>> = { bad_input: 'INVALID_ARGUMENT', not_found: 'NOT_FOUND' };

/** Returns an error with `errorCode` and `message`, which clients of registries read. */
function addErrorCode(error: unknown): unknown {
  const errorCode = error instanceof ServiceError ? CODES[error.code] : undefined;
  if (!(error instanceof ServiceError) || errorCode === undefined) return error;
  const { code, message, hint, reason, details } = error;
  return new ServiceError(code, message, {
    ...(hint !== undefined && { hint }),
    reason,
    details: { ...details, errorCode, message },
    cause: error,
  });
}
