import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { CATEGORIES } from '../../model/catalogue.ts';
import { changesQuery } from '../changes.ts';
import { checkFields, checkQuestion } from '../check.ts';
import { compareQuery } from '../compare.ts';
import { AI_CATALOG_TYPE, buildAiCatalog, buildApiCatalog, buildRobots, buildSecurityTxt } from '../conventions.ts';
import { discoveryListQuery, discoverySearchQuery } from '../discovery.ts';
import { PATHS } from '../links.ts';
import { listQuery, ROUTES_MAX, routesQuery } from '../listing/query.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../mcp-server.ts';
import { buildArdManifest, registryQuestion } from '../registry.ts';
import { SERVICE_MEANING, type Site } from '../site.ts';
import { buildSkill, buildSkillIndex, SKILL_NAME } from '../skill.ts';
import { getSchemaRef, simplifySchema } from './components.ts';
import {
  buildCatalogueExamples,
  buildCheckAnswers,
  buildCheckQuestions,
  buildDiscoveryExamples,
  buildReceiptExample,
  buildRegistryExamples,
  EXAMPLE_SEEN,
} from './examples.ts';
import {
  buildFailureRefs,
  buildFileRead,
  buildJsonRead,
  buildQueryParameters,
  buildReceiptParameter,
  buildSlugParameter,
  buildTextRead,
  type FileAnswer,
  type Operation,
} from './operation.ts';

/** Builds the paths of the document: the service's own endpoints and nothing of any provider's. */
export function buildPaths(site: Site): OpenAPIV3_1.PathsObject {
  return {
    ...buildAgentPaths(site),
    ...buildCheckPaths(site),
    ...buildDiscoveryPaths(),
    ...buildRegistryPaths(site),
    ...buildServicePaths(),
    ...buildFilePaths(site),
  };
}

/** Builds the paths under `/agent/`: the catalogue as JSON. */
function buildAgentPaths(site: Site): OpenAPIV3_1.PathsObject {
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
          'Follow next_cursor to the last page, then come back with its resume_cursor: nothing is missed. 410 ' +
          '(history_replaced) says to start again with since=0, and 503 (since_ahead) that another server was ahead. Far ' +
          'back, changes that later ones supersede are left out unless history is all.',
        parameters: buildQueryParameters(changesQuery),
        answer: { description: 'A page of changes', schema: 'AgentChanges', example: examples.changes },
        failures: ['HistoryReplaced'],
      }),
    },
    [PATHS.agentCompare]: {
      get: buildJsonRead({
        operationId: 'compareRoutes',
        summary: 'Two to four routes side by side, of any listings',
        description:
          'Prices, networks, input, output, latency, reliability, proof and cautions of each. Give routes once for each ' +
          `route. One that is unknown or removed says so in its place. ${PATHS.compare} is the same as a page.`,
        parameters: buildQueryParameters(compareQuery),
        answer: {
          description: 'The routes, in the order asked for',
          schema: 'AgentComparison',
          example: examples.comparison,
        },
      }),
    },
    [PATHS.agentListing('{slug}')]: {
      get: buildJsonRead({
        operationId: 'getListing',
        summary: 'One listing whole: routes, terms, networks, evidence, decisions',
        description:
          'What sources declare, what a 402 answer was seen to ask and what a payment proved stand apart, each with its ' +
          `time. Of more than ${ROUTES_MAX} routes, next_cursor is where the rest begins.`,
        parameters: [buildSlugParameter(), ...buildQueryParameters(routesQuery)],
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

const SAME_ANSWER =
  'Says whether it was seen or paid before (match), is only declared (unseen), is on record although something of danger ' +
  'speaks against the route (caution), how it differs (mismatch), that nothing is on record (unknown_route), or that the ' +
  'listing was removed (delisted), each with the time of the evidence. Pay only offers in safe_offers: there are some only ' +
  'with match. A lower price is a mismatch of severity notice. Without terms it says what to expect (expected).';

/** Builds the path of the comparison of a 402 with the record. */
function buildCheckPaths(site: Site): OpenAPIV3_1.PathsObject {
  const answers = buildCheckAnswers(site);
  return {
    [PATHS.agentCheck]: {
      get: buildJsonRead({
        operationId: 'checkTerms',
        summary: 'Before paying: compare one offer of a 402 with what is on record',
        description: `Takes network, asset, pay_to and amount or price_usdc, all of them or none. ${SAME_ANSWER}`,
        parameters: buildQueryParameters(checkFields),
        answer: { description: 'The comparison', schema: 'AgentCheck', example: answers.match.value },
      }),
      post: buildChallengeOperation(answers),
    },
  };
}

function buildChallengeOperation(answers: ReturnType<typeof buildCheckAnswers>): Operation {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(checkQuestion, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return {
    operationId: 'checkChallenge',
    summary: 'Before paying: compare a whole challenge with what is on record',
    description: `Takes the challenge as it came, 64 KB at most. ${SAME_ANSWER}`,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: asSchema(schema), examples: buildCheckQuestions() } },
    },
    responses: {
      '200': {
        description: 'The comparison',
        content: { 'application/json': { schema: getSchemaRef('AgentCheck'), examples: answers } },
      },
      ...buildFailureRefs([
        'BadRequest',
        'MethodNotAllowed',
        'ContentTooLarge',
        'UnsupportedMediaType',
        'TooManyRequests',
        'Unavailable',
      ]),
    },
  };
}

/** A JSON Schema as openapi-types has operations carry it: in its 3.0 type, although the document is 3.1. */
function asSchema(schema: object): OpenAPIV3.SchemaObject {
  return schema;
}

/** Builds the paths under `/discovery/`: the catalogue as x402 facilitators show theirs. */
function buildDiscoveryPaths(): OpenAPIV3_1.PathsObject {
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

/** Builds the paths of the registry of agent discovery (ARD). */
function buildRegistryPaths(site: Site): OpenAPIV3_1.PathsObject {
  const { question, answer, entry } = buildRegistryExamples(site);
  const { $schema: _dialect, ...schema } = z.toJSONSchema(registryQuestion, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return {
    [PATHS.search]: {
      post: {
        operationId: 'searchRegistry',
        summary: 'Registry of agent discovery: which listed APIs serve a need in plain words',
        description:
          'ARD 0.91, section 5.3.2: a question, nothing is written. metadata of each result names the route that fits best. ' +
          `Errors carry errorCode and message besides. For all filters, ask ${PATHS.agentList}.`,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: asSchema(schema), example: question } },
        },
        responses: {
          '200': {
            description: 'Entries, the best first',
            content: { 'application/json': { schema: getSchemaRef('RegistryAnswer'), example: answer } },
          },
          ...buildFailureRefs([
            'BadRequest',
            'MethodNotAllowed',
            'ContentTooLarge',
            'UnsupportedMediaType',
            'TooManyRequests',
            'Unavailable',
          ]),
        },
      },
    },
    [PATHS.registryEntry('{identifier}')]: {
      get: buildJsonRead({
        operationId: 'getRegistryEntry',
        summary: 'Registry of agent discovery: one entry by its identifier',
        description: 'ARD 0.91, section 5.3.4: exact, nothing is searched for.',
        parameters: [
          {
            name: 'identifier',
            in: 'path',
            required: true,
            description: 'identifier of an entry, percent-encoded as one segment',
            schema: { type: 'string' },
            example: entry.identifier,
          },
        ],
        answer: { description: 'The entry', schema: 'RegistryEntry', example: entry },
        failures: ['NotFound'],
      }),
    },
  };
}

/** Builds the paths of the documents that describe the service, of its pages for people, and of the MCP server. */
function buildServicePaths(): OpenAPIV3_1.PathsObject {
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

/** Adds that a removed listing has a badge, too. */
function withGone(operation: Operation): Operation {
  const content = { 'image/svg+xml': { schema: { type: 'string' as const } } };
  return {
    ...operation,
    responses: {
      ...operation.responses,
      '410': { description: 'The listing was removed; the badge says so', content },
    },
  };
}

/** Builds the paths of the files by which software of others finds its way here; examples are the very files. */
function buildFilePaths(site: Site): OpenAPIV3_1.PathsObject {
  const json = (description: string, document: object, type = 'application/json'): FileAnswer => ({
    description,
    type,
    schema: { type: 'object' },
    example: document,
  });
  const text = (description: string, example: string, type = 'text/plain'): FileAnswer => ({
    description,
    type,
    schema: { type: 'string' },
    example,
  });
  const card = json('The card', buildServerCard(site), SERVER_CARD_TYPE);
  return {
    [PATHS.apiCatalog]: {
      get: buildFileRead(
        ['getApiCatalog', 'Where the service describes itself', 'A linkset (RFC 9264) as RFC 9727 has it.'],
        json('The linkset', buildApiCatalog(site), 'application/linkset+json'),
      ),
    },
    [PATHS.ard]: {
      get: buildFileRead(
        [
          'getArdManifest',
          'What agents can use here',
          'The MCP server, the registry and the skill, as ARD 0.91 lists them.',
        ],
        json('The manifest', buildArdManifest(site)),
      ),
    },
    [PATHS.skillIndex]: {
      get: buildFileRead(
        ['getSkillIndex', 'Names the skills', 'Agent Skills Discovery 0.2.0: each with the digest of its file.'],
        json('The index', buildSkillIndex(site)),
      ),
    },
    [PATHS.skill(SKILL_NAME)]: {
      get: buildFileRead(
        [
          'getSkill',
          'How an agent finds and pays an API',
          'A skill file: front matter, then instructions in Markdown.',
        ],
        text('The skill', buildSkill(site), 'text/markdown'),
      ),
    },
    [PATHS.aiCatalog]: {
      get: buildFileRead(
        ['getAiCatalog', 'What agents can use here', `The entries of ${PATHS.ard}, as AI Catalog 1.0 lists them.`],
        json('The catalogue', buildAiCatalog(site), AI_CATALOG_TYPE),
      ),
    },
    [PATHS.serverCard]: {
      get: buildFileRead(
        ['getServerCard', 'Card of the MCP server', 'What an MCP client can know before it connects.'],
        card,
      ),
    },
    [PATHS.wellKnownServerCard]: {
      get: {
        ...buildFileRead(
          ['getWellKnownServerCard', 'Card of the MCP server', `The same as ${PATHS.serverCard}.`],
          card,
        ),
        deprecated: true,
      },
    },
    [PATHS.serverJson]: {
      get: buildFileRead(
        ['getServerJson', 'Entry of the MCP server for registries', 'Ready to be published in an MCP registry.'],
        json('The entry', buildServerJson(site)),
      ),
    },
    [PATHS.securityTxt]: {
      get: buildFileRead(
        ['getSecurityTxt', 'Whom to write to', 'RFC 9116. Absent where the operator set no contact.'],
        text(
          'The contact',
          buildSecurityTxt(site, new Date(EXAMPLE_SEEN)) ?? 'Contact: https://apis.example/contact\n',
        ),
        ['NotFound'],
      ),
    },
    [PATHS.robots]: {
      get: buildFileRead(['getRobots', 'What crawlers may read', 'All of it.'], text('The rules', buildRobots(site))),
    },
    [PATHS.sitemapIndex]: {
      get: buildFileRead(
        ['getSitemapIndex', 'Names the sitemaps', 'One of pages, the others of listings, with the time of each.'],
        text(
          'The index',
          '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>',
          'application/xml',
        ),
      ),
    },
    [PATHS.sitemap('{part}')]: {
      get: {
        ...buildFileRead(
          ['getSitemap', 'Names pages', 'Addresses and times of the latest change.'],
          text(
            'The sitemap',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>',
            'application/xml',
          ),
          ['NotFound'],
        ),
        parameters: [
          {
            name: 'part',
            in: 'path',
            required: true,
            description: 'Number of the sitemap, from 1',
            schema: { type: 'integer', minimum: 1 },
            example: 1,
          },
        ],
      },
    },
    [PATHS.badge('{slug}')]: {
      get: withGone({
        ...buildFileRead(
          [
            'getBadge',
            'What is verified of a listing, as a picture',
            'For the own site of its provider: host, verified routes and cautions. Of a removed listing it says so, with 410.',
          ],
          text('The badge', '<svg xmlns="http://www.w3.org/2000/svg" role="img"></svg>', 'image/svg+xml'),
          ['NotFound'],
        ),
        parameters: [buildSlugParameter()],
      }),
    },
    [PATHS.changesFeed]: {
      get: buildFileRead(
        [
          'getChangesFeed',
          'The newest changes, for feed readers',
          `Atom (RFC 4287). Programs follow ${PATHS.agentChanges}.`,
        ],
        text('The feed', '<feed xmlns="http://www.w3.org/2005/Atom"></feed>', 'application/atom+xml'),
      ),
    },
    [PATHS.listingFeed('{slug}')]: {
      get: {
        ...buildFileRead(
          [
            'getListingFeed',
            'The newest changes of one listing, for feed readers',
            'Atom. It stays when the listing is removed.',
          ],
          text('The feed', '<feed xmlns="http://www.w3.org/2005/Atom"></feed>', 'application/atom+xml'),
          ['NotFound'],
        ),
        parameters: [buildSlugParameter()],
      },
    },
    [PATHS.categoryFeed('{category}')]: {
      get: {
        ...buildFileRead(
          ['getCategoryFeed', 'The newest changes in one category, for feed readers', 'Atom.'],
          text('The feed', '<feed xmlns="http://www.w3.org/2005/Atom"></feed>', 'application/atom+xml'),
          ['NotFound'],
        ),
        parameters: [
          {
            name: 'category',
            in: 'path',
            required: true,
            description: 'Category in lower case',
            schema: { type: 'string', enum: CATEGORIES.map((name) => name.toLowerCase()) },
            example: 'finance',
          },
        ],
      },
    },
    [PATHS.guideFull]: {
      get: buildFileRead(
        ['getFullGuide', 'Every listing as plain text', 'Large: to find something, search instead.'],
        text('The listings', `# ${site.serviceTitle}\n\n> ${SERVICE_MEANING}\n`),
      ),
    },
  };
}
