import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Listing } from '../model/listing.ts';
import { findNearest } from '../model/nearest.ts';
import { formatRoute, type RequestExample, type Route, requestExample } from '../model/route.ts';
import { buildProbeRequest } from '../probing/probe-request.ts';
import type { Call } from '../settlement/paid-call.ts';

/** Finds the route that an operator names, or the only one there is. Throws `bad_input` with the routes to choose from. */
export function getNamedRoute({ slug, routes }: Listing, name: string | undefined): Route {
  const names = routes.map(formatRoute);
  const [only, ...others] = routes;
  if (name === undefined && only && others.length === 0) return only;
  const route = routes.find((candidate) => formatRoute(candidate) === name?.trim());
  if (route) return route;
  const nearest = name === undefined ? undefined : findNearestName(name, names);
  const listed = names.slice(0, 8).join(', ') + (names.length > 8 ? `, and ${names.length - 8} more` : '');
  const message =
    name === undefined ? `${slug} has ${routes.length} routes; name one.` : `${slug} has no route "${name}".`;
  throw new ServiceError('bad_input', message, {
    hint: nearest ? `Did you mean "${nearest}"?` : `--route takes one of: ${listed || 'none is itemised'}.`,
    reason: 'no_route',
  });
}

function findNearestName(name: string, names: readonly string[]): string | undefined {
  const small = names.map((candidate) => candidate.toLowerCase());
  const nearest = findNearest(name, small);
  return nearest === undefined ? undefined : names[small.indexOf(nearest)];
}

/**
 * Builds the call that is paid for: the route's example request, or what the file `input` holds. Throws `bad_input`
 * where the request would carry made-up values: nobody pays for those.
 */
export function buildCall({ base_url }: Listing, route: Route, input: string | undefined): Call {
  const example = input === undefined ? route.example : readInput(input);
  const terms = getCurrentTerms(route.terms);
  const request = buildProbeRequest(base_url, { ...route, example, terms });
  if (!request) {
    throw new ServiceError('bad_input', `${formatRoute(route)} makes no address.`, { reason: 'bad_url' });
  }
  const { invented, url, headers, body } = request;
  if (invented.length > 0) {
    throw new ServiceError('bad_input', `No value is known for ${invented.join(', ')} in ${route.path}.`, {
      hint: `Give one in a file: --input file.json with {"query": {"${invented[0]}": "…"}}.`,
      reason: 'made_up_parameter',
    });
  }
  if (body !== undefined && example?.body === undefined) {
    throw new ServiceError('bad_input', `No body is known for ${formatRoute(route)}.`, {
      hint: 'Give one in a file: --input file.json with {"body": {…}}.',
      reason: 'made_up_body',
    });
  }
  return { method: route.method, url, headers, body };
}

function readInput(file: string): RequestExample {
  try {
    return requestExample.strict().parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const word = error instanceof z.ZodError ? z.prettifyError(error).split('\n')[0] : getErrorMessage(error);
    throw new ServiceError('bad_input', `The input ${file} cannot be used: ${word}.`, {
      hint: 'It is a JSON object with query, headers and body, each of them optional.',
      reason: 'bad_input_file',
      cause: error,
    });
  }
}
