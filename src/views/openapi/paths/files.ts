import type { OpenAPIV3_1 } from 'openapi-types';
import { buildAiCatalog } from '../../conventions/ai-catalog.ts';
import { buildApiCatalog } from '../../conventions/api-catalog.ts';
import { AI_CATALOG_TYPE } from '../../conventions/link-header.ts';
import { buildRobots } from '../../conventions/robots.ts';
import { buildSecurityTxt } from '../../conventions/security-txt.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../../conventions/server-card.ts';
import { PATHS } from '../../links.ts';
import { SERVICE_MEANING, type Site } from '../../site.ts';
import { EXAMPLE_SEEN } from '../examples/catalogue.ts';
import { buildFileRead, type FileAnswer } from '../operation.ts';

/** Builds the paths of the files by which software of others finds its way here; examples are the very files. */
export function buildFilePaths(site: Site): OpenAPIV3_1.PathsObject {
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
    [PATHS.aiCatalog]: {
      get: buildFileRead(
        ['getAiCatalog', 'What agents can use here', 'The MCP server, as AI Catalog and ARD list it.'],
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
    [PATHS.guideFull]: {
      get: buildFileRead(
        ['getFullGuide', 'Every listing as plain text', 'Large: to find something, search instead.'],
        text('The listings', `# ${site.serviceTitle}\n\n> ${SERVICE_MEANING}\n`),
      ),
    },
  };
}
