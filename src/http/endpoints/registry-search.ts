import { ServiceError } from '../../errors.ts';
import { readSelected } from '../../published/listings.ts';
import { selectListings } from '../../published/select.ts';
import { addPriceLimit } from '../../published/suggested.ts';
import { PATHS } from '../../views/links.ts';
import { EXAMPLE_ITEM, NOWHERE } from '../../views/openapi/example.ts';
import { buildRegistryAnswer, buildRegistryQuery, registryAnswer, registryQuestion } from '../../views/registry.ts';
import { buildDocument } from '../document.ts';
import { defineQuestion } from './define.ts';

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
      const items = [{ ...EXAMPLE_ITEM, match: 1 }];
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

/** The specification's names of errors (Appendix B). */
const CODES: Partial<Record<ServiceError['code'], string>> = { bad_input: 'INVALID_ARGUMENT', not_found: 'NOT_FOUND' };

/** Returns an error with `errorCode` and `message`, which clients of registries read. */
export function addErrorCode(error: unknown): unknown {
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
