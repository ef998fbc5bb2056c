import { ServiceError } from '../errors.ts';
import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildAiCatalog } from '../views/conventions/ai-catalog.ts';
import { buildApiCatalog } from '../views/conventions/api-catalog.ts';
import { AI_CATALOG_TYPE, API_CATALOG_TYPE, buildLinkHeader } from '../views/conventions/link-header.ts';
import { buildRobots } from '../views/conventions/robots.ts';
import { buildSecurityTxt } from '../views/conventions/security-txt.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../views/conventions/server-card.ts';
import { PATHS } from '../views/links.ts';
import type { Site } from '../views/site.ts';
import { buildJoinedResponse } from './joined.ts';
import { refuseUnknown } from './parameters.ts';

/** What follows from code and settings alone may be reused for an hour (SEP-2127, "Caching"). */
const MAX_AGE_SECONDS = 60 * 60;

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** Answers a request for one document. */
type Serve = (request: Request) => Response;

/** Serves the documents by which others' software finds its way here, by their paths. They hold nothing of the catalogue. */
export function createConventions({ site, now }: Reading): ReadonlyMap<string, Serve> {
  const card = serve(() => JSON.stringify(buildServerCard(site)), SERVER_CARD_TYPE);
  return new Map([
    [PATHS.apiCatalog, serveApiCatalog(site)],
    [PATHS.aiCatalog, serve(() => JSON.stringify(buildAiCatalog(site)), AI_CATALOG_TYPE)],
    [PATHS.serverCard, card],
    [PATHS.wellKnownServerCard, card],
    [PATHS.serverJson, serve(() => JSON.stringify(buildServerJson(site), null, 2), 'application/json')],
    [PATHS.securityTxt, serveSecurityTxt(site, now)],
    [PATHS.robots, serve(() => buildRobots(site), PLAIN_TEXT)],
  ]);
}

/** A HEAD request alone tells where the API catalogue is (RFC 9727, section 2). */
function serveApiCatalog(site: Site): Serve {
  const answer = serve(() => JSON.stringify(buildApiCatalog(site)), API_CATALOG_TYPE);
  const link = buildLinkHeader(site.baseUrl);
  return (request) => {
    const response = answer(request);
    response.headers.set('Link', link);
    return response;
  };
}

/** Its date follows the day, so the text is made for each request. */
function serveSecurityTxt(site: Site, now: () => Date): Serve {
  return (request) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const text = buildSecurityTxt(site, now());
    if (text !== undefined) {
      const body = buildPart(text);
      return buildJoinedResponse(request, { head: '', headKey: '', body, type: PLAIN_TEXT, maxAge: MAX_AGE_SECONDS });
    }
    throw new ServiceError('not_found', 'CONTACT_URL of this service is not set to an https address.', {
      reason: 'no_contact',
      hint: `Its operator can set it; ${PATHS.providers} says what works without.`,
    });
  };
}

function serve(buildText: () => string, type: string): Serve {
  let body: Part | undefined;
  return (request) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    body ??= buildPart(buildText());
    return buildJoinedResponse(request, { head: '', headKey: '', body, type, maxAge: MAX_AGE_SECONDS });
  };
}
