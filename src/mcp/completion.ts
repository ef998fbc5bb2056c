import type { CompleteRequest, CompleteResult, Server } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
import { formatRoute } from '../model/route.ts';
import { listRouteNames } from '../published/listings.ts';
import type { AtRevision } from '../published/reading.ts';
import { completeSlug } from '../published/slug-completion.ts';
import type { Caller } from './caller.ts';
import { PAYING_PROMPT } from './prompts.ts';
import { LISTING_URI } from './resources.ts';

/** Most values in an answer (MCP, "Completion"). */
const MAX_VALUES = 100;

/** Arguments that can be completed, by the resource or prompt that they belong to. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  [LISTING_URI]: ['slug'],
  [PAYING_PROMPT]: ['slug', 'route'],
};

/** Builds the completion of arguments: slugs, and routes of the listing with a slug. */
export function buildCompletion({ answer }: Caller): (server: Server) => void {
  return (server) => {
    server.setRequestHandler('completion/complete', ({ params }) => answer((context) => complete(params, context)));
  };
}

function complete({ ref, argument, context }: CompleteRequest['params'], from: AtRevision): CompleteResult {
  const owner = ref.type === 'ref/prompt' ? ref.name : ref.uri;
  const names = Object.hasOwn(ARGUMENTS, owner) ? ARGUMENTS[owner] : undefined;
  if (!names?.includes(argument.name)) {
    throw new ServiceError('bad_input', 'Nothing of this name can be completed.', {
      hint: `slug of ${LISTING_URI}, and ${ARGUMENTS[PAYING_PROMPT]?.join(' and ')} of the prompt ${PAYING_PROMPT} can.`,
    });
  }
  const { values, hasMore } =
    argument.name === 'slug'
      ? completeSlug(from.reading.published, argument.value, MAX_VALUES)
      : completeRoute(argument.value, context?.arguments?.slug ?? '', from);
  return { completion: { values, hasMore, ...(!hasMore && { total: values.length }) } };
}

/** Completes a route of the listing with a slug: lists those that contain the typed text. */
function completeRoute(typed: string, slug: string, { reading }: AtRevision): { values: string[]; hasMore: boolean } {
  const routes = listRouteNames(reading.published, slug).map(formatRoute);
  const wanted = typed.trim().toLowerCase();
  const values = routes.filter((route) => route.toLowerCase().includes(wanted));
  return { values: values.slice(0, MAX_VALUES), hasMore: values.length > MAX_VALUES };
}
