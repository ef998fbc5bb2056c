import type { Hono } from 'hono';
import { ServiceError } from '../../errors.ts';
import { getItem, readSelected } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { selectListings } from '../../published/select.ts';
import { findRef, type Snapshot } from '../../published/snapshot.ts';
import { PATHS } from '../../views/links.ts';
import {
  buildListingEntry,
  buildRegistryAnswer,
  buildRegistryQuery,
  parseIdentifier,
  type RegistryQuestion,
  registryQuestion,
} from '../../views/registry.ts';
import { buildDocument, type Document, type SmallDocument } from '../document.ts';
import type { Env } from '../env.ts';
import { answerPosted, limitQuestion } from '../posted.ts';
import { buildProblem } from '../problem.ts';
import { type Get, NO_QUERY } from './route.ts';

const HINTS = { example: '{"query": {"text": "what you need"}}', shorten: 'Ask in fewer words.' };

/**
 * Adds the registry of agent discovery (ARD 0.91, section 5.3): `POST /search`, which listed APIs serve a need in plain words,
 * and `/agents/{identifier}`, one entry whole. There are no facets: `/explore` says so with 501, as the specification asks.
 */
export function addRegistryRoutes(get: Get, app: Hono<Env>, reading: Reading): void {
  app.post(PATHS.search, limitQuestion(HINTS), (c) =>
    refuseByCode(() =>
      answerPosted(c, registryQuestion, {
        hints: HINTS,
        build: (question) => reading.readAtOnce((snapshot) => buildResults(reading, question, snapshot)),
      }),
    ),
  );
  app.use(PATHS.registryExplore, (c, next) => (c.req.method === 'POST' ? refuseExplore() : next()));
  get(PATHS.registryEntry(':identifier'), NO_QUERY, (_, { identifier = '' }, snapshot) =>
    nameCode(() => buildEntry(reading, identifier, snapshot)),
  );
}

function buildResults({ published, site }: Reading, question: RegistryQuestion, snapshot: Snapshot): SmallDocument {
  const query = buildRegistryQuery(question, site);
  const selected = query && selectListings(published, snapshot, query);
  const items = selected ? readSelected(published, selected).map((item) => JSON.parse(item)) : [];
  const found = { items, next_cursor: selected?.next_cursor };
  const { revision } = snapshot;
  return buildDocument(JSON.stringify(buildRegistryAnswer(question, found, site)), { revision });
}

function buildEntry({ published, site }: Reading, identifier: string, snapshot: Snapshot): Document {
  const named = parseIdentifier(identifier, site);
  const listing = named && 'slug' in named ? findRef(snapshot, named.slug) : undefined;
  const entry = named && 'own' in named ? named.own : listing && buildListingEntry(getItem(published, listing), site);
  if (entry) return buildDocument(JSON.stringify(entry), { revision: snapshot.revision });
  throw new ServiceError('not_found', 'There is no entry with this identifier.', {
    hint: `POST ${PATHS.search} finds entries; each names its identifier.`,
  });
}

async function refuseExplore(): Promise<Response> {
  const detail = 'This registry computes no facets.';
  return buildProblem({ status: 501, code: 'not_implemented', detail, errorCode: 'NOT_IMPLEMENTED', message: detail });
}

/** The specification's names of what went wrong (Appendix B). */
const CODES: Partial<Record<ServiceError['code'], string>> = { bad_input: 'INVALID_ARGUMENT', not_found: 'NOT_FOUND' };

async function refuseByCode(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    throw withCode(error);
  }
}

function nameCode(build: () => Document): Document {
  try {
    return build();
  } catch (error) {
    throw withCode(error);
  }
}

/** Adds `errorCode` and `message` to a problem, as clients of registries read them. */
function withCode(error: unknown): unknown {
  const errorCode = error instanceof ServiceError ? CODES[error.code] : undefined;
  if (!(error instanceof ServiceError) || errorCode === undefined) return error;
  const { code, message, hint, reason, details } = error;
  return new ServiceError(code, message, {
    ...(hint !== undefined && { hint }),
    reason,
    details: { ...details, errorCode, message },
    cause: error,
  });
}
