import { type GetPromptResult, ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { slug } from '../model/listing.ts';
import { formatRoute } from '../model/route.ts';
import type { Published } from '../published/file.ts';
import { findLive, listRouteNames } from '../published/listings.ts';
import { parseArguments } from './arguments.ts';
import type { Caller } from './caller.ts';
import { DELISTED_WORDS, PAYING_WORDS } from './paying-words.ts';
import type { ToolContext } from './tool.ts';
import { buildListingAnswer, getListingTool } from './tools/get-listing.ts';

/** Name of the one prompt. */
export const PAYING_PROMPT = 'pay_for_listed_api';

const args = z.strictObject({
  slug: slug.describe('slug of a listing, as search_listings gives it'),
  route: z.string().min(1).optional().describe('The route to call, e.g. POST /v1/x; without it the choice is yours'),
});

/** Builds the answers about prompts; the list, which is the same for every host, is built once. */
export function buildPrompts({ answer }: Caller): (server: Server) => void {
  const listed = {
    name: PAYING_PROMPT,
    title: 'Pay for a listed API',
    description: 'How to call one listed API and pay for it safely: what to check first, what to cap, what to keep.',
    arguments: Object.entries(args.shape).map(([name, schema]) => ({
      name,
      description: schema.description,
      required: !schema.safeParse(undefined).success,
    })),
  };
  return (server) => {
    server.setRequestHandler('prompts/list', () => ({ prompts: [listed] }));
    server.setRequestHandler('prompts/get', ({ params }) => {
      if (params.name !== PAYING_PROMPT) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt ${params.name} not found`);
      }
      return answer((context) => buildPrompt(params.arguments ?? {}, context));
    });
  };
}

/** Builds the prompt: our own words first, then, in a message of its own, the record of the listing as JSON. */
function buildPrompt(given: unknown, context: ToolContext): GetPromptResult {
  const { slug, route } = parseArguments(args, given);
  const { published } = context.reading;
  const isOffered = findLive(published, slug) !== undefined;
  const chosen = isOffered && route !== undefined && { positions: findRoutes(published, slug, route) };
  const record = (chosen && buildListingAnswer(slug, chosen, context)) || getListingTool.answer({ slug }, context);
  return {
    description: `How to pay for ${slug}`,
    messages: [
      { role: 'user', content: { type: 'text', text: isOffered ? PAYING_WORDS : DELISTED_WORDS } },
      { role: 'user', content: { type: 'text', text: JSON.stringify({ listing_data: record }) } },
    ],
  };
}

/** Finds the positions of the named route of a live listing. Throws `bad_input` where it has no such route. */
function findRoutes(published: Published, slug: string, named: string): number[] {
  const wanted = named.trim().replace(/\s+/g, ' ').toLowerCase();
  const names = listRouteNames(published, slug).map((route) => formatRoute(route).toLowerCase());
  const positions = names.flatMap((name, position) => (name === wanted ? [position] : []));
  if (positions.length > 0) return positions;
  throw new ServiceError('bad_input', `The listing ${slug} has no such route.`, {
    hint: 'A route is written with its method, as in POST /v1/x; get_listing lists them.',
  });
}
