import { readRequestBody } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
import { parseArguments } from '../mcp/arguments.ts';
import { checkTerms } from '../snapshot/check.ts';
import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildSummary, type Snapshot } from '../snapshot/snapshot.ts';
import { buildAgentCheck } from '../views/agent-check.ts';
import { type CheckQuestion, checkFields, checkQuestion } from '../views/check-question.ts';
import { buildJoinedResponse } from './joined.ts';
import { createKeptParts, type KeptParts } from './kept-parts.ts';
import { parseQuery, refuseUnknown } from './parameters.ts';
import { buildProblem } from './problem.ts';
import { PUBLIC_HEADERS } from './public-headers.ts';

/** Largest challenge that is read, in bytes. */
export const MAX_CHALLENGE_BYTES = 64 * 1024;

/** How much of the answers of one revision is kept, in bytes; one is some 1.5 kB. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** What an answer says of how old the record is holds for so long, in milliseconds. */
const HOUR_MS = 60 * 60 * 1000;

/** The two ways to ask. */
interface AgentCheckRoutes {
  serveFields(request: Request): Response;
  serveChallenge(request: Request): Promise<Response>;
}

/**
 * Serves `/agent/check`: the terms of a 402 compared with what is on record, at one revision. GET takes the fields of one
 * offer and is answered from memory while nothing changes; POST takes the challenge as it came and is never stored.
 */
export function createAgentCheck(reading: Reading): AgentCheckRoutes {
  const { catalogue, site, getSnapshot, now } = reading;
  let kept: { snapshot: Snapshot; hour: number; parts: KeptParts } | undefined;

  const getKept = (snapshot: Snapshot): KeptParts => {
    const hour = Math.floor(now().getTime() / HOUR_MS);
    if (kept?.snapshot !== snapshot || kept.hour !== hour) {
      kept = { snapshot, hour, parts: createKeptParts(KEPT_BYTES) };
    }
    return kept.parts;
  };
  const buildBody = (question: CheckQuestion): Part => {
    const found = buildAgentCheck(checkTerms(reading, question), site);
    return buildPart(`,${JSON.stringify(found).slice(1)}`);
  };
  const buildHead = (snapshot: Snapshot) => {
    const catalogueSummary = buildSummary(snapshot, site, now());
    const head = `{"catalogue":${JSON.stringify(catalogueSummary)},"revision":${snapshot.revision}`;
    return { head, headKey: head.replace(catalogueSummary.generated_at, '') };
  };
  const answer = (request: Request, snapshot: Snapshot, body: Part): Response =>
    buildJoinedResponse(request, { ...buildHead(snapshot), body, revision: snapshot.revision });
  const answerFields = catalogue.sqlite.transaction((request: Request, search: string): Response => {
    const snapshot = getSnapshot();
    const build = () => buildBody(parseQuery(checkFields, new URLSearchParams(search)));
    return answer(request, snapshot, getKept(snapshot).get(search, build));
  });
  const answerChallenge = catalogue.sqlite.transaction((question: CheckQuestion): Response => {
    const snapshot = getSnapshot();
    const { pieces } = buildBody(question);
    return new Response(Buffer.concat([Buffer.from(buildHead(snapshot).head), ...pieces]), {
      headers: {
        ...PUBLIC_HEADERS,
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Catalogue-Revision': String(snapshot.revision),
      },
    });
  });
  return {
    serveFields: (request) => {
      const { search } = new URL(request.url);
      // What is kept needs no transaction: it was read at the revision that the catalogue is at.
      const snapshot = getSnapshot();
      const body = getKept(snapshot).find(search);
      return body ? answer(request, snapshot, body) : answerFields(request, search);
    },
    serveChallenge: async (request) => {
      refuseUnknown(new URL(request.url).searchParams, []);
      if (!isJson(request.headers.get('content-type'))) return buildTypeProblem();
      const body = await readRequestBody(request, MAX_CHALLENGE_BYTES);
      if (body.tooLarge) return buildSizeProblem();
      return answerChallenge(parseArguments(checkQuestion, parseBody(body.text)));
    },
  };
}

function isJson(type: string | null): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type?.trim() ?? '');
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ServiceError('bad_input', 'The body is not JSON.', {
      hint: 'Send {"url": …, "method": …, "challenge": …}; the challenge is a JSON object or the header as text.',
      reason: 'not_json',
      cause: error,
    });
  }
}

function buildTypeProblem(): Response {
  return buildProblem(
    {
      status: 415,
      code: 'unsupported_media_type',
      detail: 'The body is not said to be JSON.',
      hint: 'Send Content-Type: application/json.',
    },
    { 'Accept-Post': 'application/json' },
  );
}

function buildSizeProblem(): Response {
  return buildProblem({
    status: 413,
    code: 'too_large',
    detail: `The body is larger than ${MAX_CHALLENGE_BYTES} bytes.`,
    hint: 'Send the challenge alone, or its fields as parameters of GET.',
  });
}
