import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ServiceError } from '../../errors.ts';
import { parseArguments } from '../../mcp/arguments.ts';
import { checkTerms } from '../../published/check.ts';
import type { Reading } from '../../published/reading.ts';
import { buildSummary, type Snapshot } from '../../published/snapshot.ts';
import { buildAgentCheck, type CheckQuestion, checkFields, checkQuestion } from '../../views/check.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument, type SmallDocument } from '../document.ts';
import type { Env } from '../env.ts';
import { refuseUnknown } from '../parameters.ts';
import { buildProblem } from '../problem.ts';
import type { Get } from './route.ts';

/** Largest challenge that is read, in bytes. */
export const MAX_CHALLENGE_BYTES = 64 * 1024;

/**
 * Adds `/agent/check`: the terms of a 402 compared with what is on record, at one revision. GET takes the fields of one
 * offer; POST takes the challenge as it came, and its answer is never stored.
 */
export function addCheckRoutes(get: Get, app: Hono<Env>, reading: Reading): void {
  const { site, now, readAtOnce } = reading;
  const build = (question: CheckQuestion, snapshot: Snapshot): SmallDocument => {
    const { revision } = snapshot;
    const summary = buildSummary(snapshot, site, now());
    const found = { catalogue: summary, revision, ...buildAgentCheck(checkTerms(reading, question), site) };
    return buildDocument(JSON.stringify(found), { generatedAt: summary.generated_at, revision });
  };
  get(PATHS.agentCheck, checkFields, (question, _, snapshot) => build(question, snapshot));
  app.post(PATHS.agentCheck, bodyLimit({ maxSize: MAX_CHALLENGE_BYTES, onError: buildSizeProblem }), async (c) => {
    refuseUnknown(new URL(c.req.url).searchParams, []);
    if (!isJson(c.req.header('Content-Type'))) return buildTypeProblem();
    const question = parseArguments(checkQuestion, parseBody(await c.req.text()));
    const { body, type, headers } = readAtOnce((snapshot) => build(question, snapshot));
    return c.body(body as Uint8Array<ArrayBuffer>, 200, {
      ...headers,
      'Content-Type': type,
      'Cache-Control': 'no-store',
    });
  });
}

function isJson(type = ''): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
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
  const refusal = { status: 415, code: 'unsupported_media_type', detail: 'The body is not said to be JSON.' };
  return buildProblem(
    { ...refusal, hint: 'Send Content-Type: application/json.' },
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
