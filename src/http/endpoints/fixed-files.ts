import { ServiceError } from '../../errors.ts';
import {
  AI_CATALOG_TYPE,
  API_CATALOG_TYPE,
  buildAiCatalog,
  buildApiCatalog,
  buildRobots,
  buildSecurityTxt,
} from '../../views/conventions.ts';
import { PATHS } from '../../views/links.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../../views/mcp-server.ts';
import { EXAMPLE_SEEN } from '../../views/openapi/example.ts';
import { buildArdManifest } from '../../views/registry.ts';
import type { Site } from '../../views/site.ts';
import { buildSkill, buildSkillIndex, SKILL_NAME, SKILL_TYPE } from '../../views/skill.ts';
import { buildDocument } from '../document.ts';
import { defineFile, type Endpoint, PLAIN_TEXT } from './define.ts';

/** Time for which files made only of code and settings may be reused, in seconds: an hour (SEP-2127, "Caching"). */
const FIXED_SECONDS = 60 * 60;

/** Defines a file made only of code and settings: a text, or an object that is sent as JSON. */
function defineFixed({
  type = 'application/json',
  of,
  build,
  indent,
  ...words
}: Omit<Parameters<typeof defineFile>[0], 'content' | 'build' | 'make'> & {
  type?: string;
  /** Description of its content. */
  of: string;
  build: (site: Site) => string | object;
  indent?: number;
}): Endpoint {
  const write = (content: string | object) =>
    typeof content === 'string' ? content : JSON.stringify(content, null, indent);
  return defineFile({
    ...words,
    content: { description: of, type, example: build },
    build: (_, { reading }) => buildDocument(write(build(reading.site)), { type, maxAge: FIXED_SECONDS }),
  });
}

const CARD = { summary: 'Card of the MCP server', of: 'The card', type: SERVER_CARD_TYPE, build: buildServerCard };

/** The files that other software looks for here, in the order of the document. */
export const FIXED_FILES: readonly Endpoint[] = [
  defineFixed({
    id: 'getApiCatalog',
    path: PATHS.apiCatalog,
    summary: 'Where the service describes itself',
    description: 'A linkset (RFC 9264) as RFC 9727 has it.',
    of: 'The linkset',
    type: API_CATALOG_TYPE,
    build: buildApiCatalog,
  }),
  defineFixed({
    id: 'getArdManifest',
    path: PATHS.ard,
    summary: 'What agents can use here',
    description: 'The MCP server, the registry and the skill, as ARD 0.91 lists them.',
    of: 'The manifest',
    build: buildArdManifest,
  }),
  defineFixed({
    id: 'getSkillIndex',
    path: PATHS.skillIndex,
    summary: 'Names the skills',
    description: 'Agent Skills Discovery 0.2.0: each with the digest of its file.',
    of: 'The index',
    build: buildSkillIndex,
  }),
  defineFixed({
    id: 'getSkill',
    path: PATHS.skill(SKILL_NAME),
    summary: 'How an agent finds and pays an API',
    description: 'A skill file: front matter, then instructions in Markdown.',
    of: 'The skill',
    type: SKILL_TYPE,
    build: buildSkill,
  }),
  defineFixed({
    id: 'getAiCatalog',
    path: PATHS.aiCatalog,
    summary: 'What agents can use here',
    description: `The entries of ${PATHS.ard}, as AI Catalog 1.0 lists them.`,
    of: 'The catalogue',
    type: AI_CATALOG_TYPE,
    build: buildAiCatalog,
  }),
  defineFixed({
    id: 'getServerCard',
    path: PATHS.serverCard,
    ...CARD,
    description: 'What an MCP client can know before it connects.',
  }),
  defineFixed({
    id: 'getWellKnownServerCard',
    path: PATHS.wellKnownServerCard,
    ...CARD,
    description: `The same as ${PATHS.serverCard}.`,
    deprecated: true,
  }),
  defineFixed({
    id: 'getServerJson',
    path: PATHS.serverJson,
    summary: 'Entry of the MCP server for registries',
    description: 'Ready to be published in an MCP registry.',
    of: 'The entry',
    build: buildServerJson,
    indent: 2,
  }),
  defineFile({
    id: 'getSecurityTxt',
    path: PATHS.securityTxt,
    summary: 'Whom to write to',
    description: 'RFC 9116. Absent where the operator set no contact.',
    content: {
      description: 'The contact',
      type: PLAIN_TEXT,
      example: (site) => buildSecurityTxt(site, new Date(EXAMPLE_SEEN)) ?? 'Contact: https://apis.example/contact\n',
    },
    failures: ['NotFound'],
    build: (_, { reading: { site, now } }) => {
      const text = buildSecurityTxt(site, now());
      if (text !== undefined) return buildDocument(text, { type: PLAIN_TEXT, maxAge: FIXED_SECONDS });
      throw new ServiceError('not_found', 'CONTACT_URL of this service is not set to an https address.', {
        reason: 'no_contact',
        hint: `Its operator can set it; ${PATHS.providers} says what works without.`,
      });
    },
  }),
  defineFixed({
    id: 'getRobots',
    path: PATHS.robots,
    summary: 'What crawlers may read',
    description: 'All of it.',
    of: 'The rules',
    type: PLAIN_TEXT,
    build: buildRobots,
  }),
];
