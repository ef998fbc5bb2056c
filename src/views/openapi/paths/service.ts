import type { OpenAPIV3_1 } from 'openapi-types';
import { PATHS } from '../../links.ts';
import { SERVICE_MEANING } from '../../site.ts';
import { buildFailureRefs, buildJsonRead, buildTextRead, type Operation } from '../operation.ts';
import { buildSlugParameter } from '../parameters.ts';

/** Builds the paths of the documents that describe the service, of its pages for people, and of the MCP server. */
export function buildServicePaths(): OpenAPIV3_1.PathsObject {
  return {
    [PATHS.openapi]: {
      get: buildJsonRead({
        operationId: 'getOpenapiDocument',
        summary: 'This document: one tag a listing',
        description: 'Made per request from the catalogue as it is. Large: to find something, search instead.',
        answer: {
          description: 'OpenAPI 3.1.0',
          schema: 'CatalogueDocument',
          example: { openapi: '3.1.0', 'x-catalogue': EXAMPLE_SUMMARY, tags: [] },
        },
      }),
    },
    [PATHS.guide]: {
      get: buildTextRead(
        {
          operationId: 'getGuide',
          summary: 'Plain-text guide for agents',
          description: 'How to find an API here, call it and pay for it, and what the words mean.',
        },
        { description: 'The guide', types: { 'text/plain': `# Agent-Payable APIs\n\n> ${SERVICE_MEANING}\n` } },
      ),
    },
    [PATHS.listing('{slug}')]: {
      get: buildTextRead(
        {
          operationId: 'getListingPage',
          summary: 'Listing page for people',
          description: 'With .md behind the slug, or asked for as text/markdown, the same as Markdown.',
          parameters: [buildSlugParameter()],
        },
        {
          description: 'The page',
          types: { 'text/html': '<!DOCTYPE html>…', 'text/markdown': '# Listing example-prices\n…' },
        },
        {
          '404': { description: 'There is no such listing', types: ['text/html', 'application/problem+json'] },
          '410': {
            description: 'The listing was removed; the page is its tombstone',
            types: ['text/html', 'text/markdown'],
          },
        },
      ),
    },
    [PATHS.mcp]: { post: buildMcpOperation() },
  };
}

const EXAMPLE_SUMMARY = {
  live_listings: 0,
  settlement_verified: 0,
  categories: [],
  generated_at: '2026-11-01T00:00:00.000Z',
  source: 'https://catalogue.invalid/agent/list',
};

function buildMcpOperation(): Operation {
  const message = { type: 'object' as const, description: 'A JSON-RPC 2.0 message' };
  const refusal = (description: string) => ({ description, content: { 'application/json': { schema: message } } });
  return {
    operationId: 'callMcp',
    summary: 'MCP discovery server (Streamable HTTP, stateless)',
    description: 'Model Context Protocol, revisions 2025-11-25 and 2026-07-28. Point an MCP client here.',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: message, example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
      },
    },
    responses: {
      '200': {
        description: 'A JSON-RPC 2.0 answer',
        content: {
          'application/json': { schema: message, example: { jsonrpc: '2.0', id: 1, result: { tools: [] } } },
          'text/event-stream': { schema: { type: 'string' }, example: 'event: message\n\n' },
        },
      },
      '202': { description: 'Notification taken' },
      '400': refusal('The message cannot be read'),
      '403': refusal('The Host or Origin is not one that this service answers'),
      '406': refusal('Accept does not name both application/json and text/event-stream'),
      '413': refusal('The message is larger than 64 KB'),
      '415': refusal('The message is not said to be application/json'),
      ...buildFailureRefs(['MethodNotAllowed', 'TooManyRequests', 'Unavailable']),
    },
  };
}
