import { PATHS } from '../../views/links.ts';
import { buildFailureRefs, getSchemaRef } from '../../views/openapi/components.ts';
import { SERVICE_MEANING } from '../../views/site.ts';
import { describeParams, type Endpoint, SLUG_PARAM } from './define.ts';

const TEXT = { schema: { type: 'string' as const } };

/** Failures of endpoints that are answered as pages. */
const OF_PAGES = buildFailureRefs(['NotModified', 'MethodNotAllowed', 'TooManyRequests']);

/** The guide for agents, which is served as a page. */
export const guideEndpoint: Endpoint = {
  path: PATHS.guide,
  method: 'get',
  describe: () => ({
    operationId: 'getGuide',
    summary: 'Plain-text guide for agents',
    description: 'How to find an API here, call it and pay for it, and what the words mean.',
    responses: {
      '200': {
        description: 'The guide',
        content: { 'text/plain': { ...TEXT, example: `# Agent-Payable APIs\n\n> ${SERVICE_MEANING}\n` } },
      },
      ...OF_PAGES,
    },
  }),
};

/** The page of a listing. */
export const listingPageEndpoint: Endpoint = {
  path: PATHS.listing('{slug}'),
  method: 'get',
  describe: () => ({
    operationId: 'getListingPage',
    summary: 'Listing page for people',
    description: 'With .md behind the slug, or asked for as text/markdown, the same as Markdown.',
    parameters: describeParams(SLUG_PARAM),
    responses: {
      '200': {
        description: 'The page',
        content: {
          'text/html': { ...TEXT, example: '<!DOCTYPE html>…' },
          'text/markdown': { ...TEXT, example: '# Listing example-prices\n…' },
        },
      },
      '404': {
        description: 'There is no such listing',
        content: { 'text/html': TEXT, 'application/problem+json': { schema: getSchemaRef('Problem') } },
      },
      '410': {
        description: 'The listing was removed; the page is its tombstone',
        content: { 'text/html': TEXT, 'text/markdown': TEXT },
      },
      ...OF_PAGES,
    },
  }),
};
