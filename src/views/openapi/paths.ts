import type { OpenAPIV3_1 } from 'openapi-types';
import { changesQuery } from '../agent-changes.ts';
import { PATHS } from '../links.ts';
import { listQuery } from '../list-query.ts';
import type { Site } from '../site.ts';
import { getSchemaRef } from './components.ts';
import { buildExamples } from './examples.ts';
import { buildQueryParameters, buildReceiptParameter, buildSlugParameter } from './parameters.ts';

/** Builds the paths of the document: the service's own endpoints and nothing of any provider's. */
export function buildPaths(site: Site): OpenAPIV3_1.PathsObject {
  const examples = buildExamples(site);
  const json = (name: Parameters<typeof getSchemaRef>[0], example?: unknown) => ({
    schema: getSchemaRef(name),
    ...(example === undefined ? {} : { example }),
  });
  const fail = (description: string) => ({
    description,
    content: { 'application/problem+json': json('Problem', examples.problem) },
  });
  const text = (description: string, type: string) => ({
    description,
    content: { [type]: { schema: { type: 'string' as const } } },
  });
  const common = {
    '304': { description: 'Not changed since the ETag that was sent' },
    '405': fail('Only GET and HEAD are answered here'),
    '429': fail('Too many requests from this client; Retry-After says when to come back'),
    '503': fail('The catalogue cannot be read at the moment'),
  };
  const gone = {
    description: 'The listing was taken out; a tombstone says when, by whom and why',
    content: { 'application/problem+json': json('GoneProblem') },
  };
  return {
    [PATHS.agentList]: {
      get: {
        operationId: 'listListings',
        summary: 'Search and filter the catalogue',
        description:
          'All filters given must hold; what was applied is echoed. Unknown parameters are refused. Follow next_cursor for more.',
        parameters: buildQueryParameters(listQuery),
        responses: {
          '200': {
            description: 'A page of listings',
            content: { 'application/json': json('AgentList', examples.list) },
          },
          '400': fail('A parameter is unknown or has a value it cannot take'),
          ...common,
        },
      },
    },
    [PATHS.agentChanges]: {
      get: {
        operationId: 'listChanges',
        summary: 'What changed after a revision, oldest first, tombstones included',
        description:
          'Follow next_cursor to the last page, keep its revision, and ask again with it as since: nothing is missed.',
        parameters: buildQueryParameters(changesQuery),
        responses: {
          '200': {
            description: 'A page of changes',
            content: { 'application/json': json('AgentChanges', examples.changes) },
          },
          '400': fail('A parameter is unknown, has a value it cannot take, or is ahead of the catalogue'),
          ...common,
        },
      },
    },
    [PATHS.agentListing('{slug}')]: {
      get: {
        operationId: 'getListing',
        summary: 'One listing whole: routes, terms, networks, evidence, decisions',
        parameters: [buildSlugParameter()],
        responses: {
          '200': {
            description: 'The listing',
            content: { 'application/json': json('AgentListing', examples.listing) },
          },
          '400': fail('This endpoint takes no query parameters'),
          '404': fail('There is no such listing'),
          '410': gone,
          ...common,
        },
      },
    },
    [PATHS.agentReceipt('{id}')]: {
      get: {
        operationId: 'getReceipt',
        summary: 'One paid call, with everything that it takes to check it on the chain',
        parameters: [buildReceiptParameter()],
        responses: {
          '200': { description: 'The receipt', content: { 'application/json': json('AgentReceipt') } },
          '400': fail('This endpoint takes no query parameters'),
          '404': fail('There is no such receipt'),
          ...common,
        },
      },
    },
    [PATHS.openapi]: {
      get: {
        operationId: 'getOpenapiDocument',
        summary: 'This document: one tag a listing',
        responses: {
          '200': { description: 'OpenAPI 3.1.0', content: { 'application/json': { schema: buildDocumentSchema() } } },
          '400': fail('This endpoint takes no query parameters'),
          ...common,
        },
      },
    },
    [PATHS.guide]: {
      get: {
        operationId: 'getGuide',
        summary: 'Plain-text guide for agents',
        responses: { '200': text('The guide', 'text/plain'), '4XX': fail('The request cannot be answered') },
      },
    },
    [PATHS.listing('{slug}')]: {
      get: {
        operationId: 'getListingPage',
        summary: 'Listing page for people; with .md behind the slug as Markdown',
        parameters: [buildSlugParameter()],
        responses: {
          '200': text('The page', 'text/html'),
          '404': text('There is no such listing', 'text/html'),
          '410': text('The listing was taken out; the page is its tombstone', 'text/html'),
        },
      },
    },
    [PATHS.mcp]: {
      post: {
        operationId: 'callMcp',
        summary: 'MCP discovery server (Streamable HTTP, stateless)',
        description: 'Model Context Protocol, revisions 2025-11-25 and 2026-07-28. Point an MCP client here.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', description: 'A JSON-RPC 2.0 message' } } },
        },
        responses: {
          '200': {
            description: 'A JSON-RPC 2.0 answer',
            content: {
              'application/json': { schema: { type: 'object' } },
              'text/event-stream': { schema: { type: 'string' } },
            },
          },
          '202': { description: 'Notification taken' },
          '4XX': { description: 'The message cannot be answered' },
        },
      },
    },
  };
}

/** What this document adds to OpenAPI: the summary, and a listing in each tag. */
function buildDocumentSchema() {
  return {
    type: 'object' as const,
    properties: {
      openapi: { type: 'string' as const },
      'x-catalogue': getSchemaRef('CatalogueSummary'),
      tags: { type: 'array' as const, items: getSchemaRef('ListingTag') },
    },
    required: ['openapi', 'x-catalogue', 'tags'],
  };
}
