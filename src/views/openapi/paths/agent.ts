import type { OpenAPIV3_1 } from 'openapi-types';
import { changesQuery } from '../../agent-changes.ts';
import { PATHS } from '../../links.ts';
import { listQuery } from '../../listing/query.ts';
import type { Site } from '../../site.ts';
import { buildCatalogueExamples } from '../examples/catalogue.ts';
import { buildReceiptExample } from '../examples/receipt.ts';
import { buildJsonRead } from '../operation.ts';
import { buildQueryParameters, buildReceiptParameter, buildSlugParameter } from '../parameters.ts';

/** Builds the paths under `/agent/`: the catalogue as JSON. */
export function buildAgentPaths(site: Site): OpenAPIV3_1.PathsObject {
  const examples = buildCatalogueExamples(site);
  return {
    [PATHS.agentList]: {
      get: buildJsonRead({
        operationId: 'listListings',
        summary: 'Search and filter the catalogue',
        description:
          'All filters given must hold; what was applied is echoed. Unknown parameters are refused. Follow next_cursor for more.',
        parameters: buildQueryParameters(listQuery),
        answer: { description: 'A page of listings', schema: 'AgentList', example: examples.list },
      }),
    },
    [PATHS.agentChanges]: {
      get: buildJsonRead({
        operationId: 'listChanges',
        summary: 'What changed after a revision, oldest first, tombstones included',
        description:
          'Follow next_cursor to the last page, then come back with its resume_cursor (or with its revision as since): ' +
          'nothing is missed. Far back, changes that later ones supersede are left out unless history is all.',
        parameters: buildQueryParameters(changesQuery),
        answer: { description: 'A page of changes', schema: 'AgentChanges', example: examples.changes },
      }),
    },
    [PATHS.agentListing('{slug}')]: {
      get: buildJsonRead({
        operationId: 'getListing',
        summary: 'One listing whole: routes, terms, networks, evidence, decisions',
        description:
          'What sources declare, what a 402 answer was seen to ask and what a payment proved stand apart, each with its time.',
        parameters: [buildSlugParameter()],
        answer: { description: 'The listing', schema: 'AgentListing', example: examples.listing },
        failures: ['NotFound', 'Gone'],
      }),
    },
    [PATHS.agentReceipt('{id}')]: {
      get: buildJsonRead({
        operationId: 'getReceipt',
        summary: 'One paid call, with everything that it takes to check it on the chain',
        description:
          'The transaction, and bare calls to any node of the network that show the same without this service.',
        parameters: [buildReceiptParameter()],
        answer: { description: 'The receipt', schema: 'AgentReceipt', example: buildReceiptExample(site) },
        failures: ['NotFound'],
      }),
    },
  };
}
