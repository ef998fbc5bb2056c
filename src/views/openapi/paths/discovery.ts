import type { OpenAPIV3_1 } from 'openapi-types';
import { discoveryListQuery, discoverySearchQuery } from '../../discovery-query.ts';
import { PATHS } from '../../links.ts';
import { buildDiscoveryExamples } from '../examples/discovery.ts';
import { buildJsonRead } from '../operation.ts';
import { buildQueryParameters } from '../parameters.ts';

/** Builds the paths under `/discovery/`: the catalogue as x402 facilitators show theirs. */
export function buildDiscoveryPaths(): OpenAPIV3_1.PathsObject {
  const examples = buildDiscoveryExamples();
  return {
    [PATHS.discoveryResources]: {
      get: buildJsonRead({
        operationId: 'listResources',
        summary: 'Every route that can be paid for, as x402 facilitators list them',
        description:
          'For x402 clients that know a facilitator: one resource a route whose payee is known, offers as x402 version 2 ' +
          "writes them, this catalogue's evidence in extensions.agent-payable.",
        parameters: buildQueryParameters(discoveryListQuery),
        answer: { description: 'A page of resources', schema: 'DiscoveryResources', example: examples.list },
      }),
    },
    [PATHS.discoverySearch]: {
      get: buildJsonRead({
        operationId: 'searchResources',
        summary: 'The routes that fit a request in plain words, as x402 facilitators show them',
        description: 'At most five routes of one listing, those that say most of the request first.',
        parameters: buildQueryParameters(discoverySearchQuery),
        answer: { description: 'Resources, the best first', schema: 'DiscoveryFindings', example: examples.search },
      }),
    },
  };
}
