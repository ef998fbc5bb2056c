import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { parseArguments } from '../../model/arguments.ts';
import type { Document } from '../document.ts';
import { refuseUnknown } from '../parameters.ts';
import { buildProblem } from '../problem.ts';
import type { Env } from '../request.ts';

/** Largest question that is accepted, in bytes. */
export const MAX_QUESTION_BYTES = 64 * 1024;

/** Texts in the refusal of a wrong request that say what to send instead. */
export interface Hints {
  /** An example of a question. */
  readonly example: string;
  /** Advice for a question that is too large. */
  readonly shorten: string;
}

/** Refuses a question of more than `MAX_QUESTION_BYTES` with 413. */
export function limitQuestion({ shorten }: Hints) {
  return bodyLimit({
    maxSize: MAX_QUESTION_BYTES,
    onError: () =>
      buildProblem({
        status: 413,
        code: 'too_large',
        detail: `The body is larger than ${MAX_QUESTION_BYTES} bytes.`,
        hint: shorten,
      }),
  });
}

/**
 * Answers a question posted as JSON because it is too long for an address; `build` also gets its text. The answer is never
 * cached. Throws `bad_input` for a body that is not JSON or not such a question.
 */
export async function answerPosted<Question extends z.ZodObject>(
  c: Context<Env>,
  schema: Question,
  { hints, build }: { hints: Hints; build: (question: z.output<Question>, text: string) => Document },
): Promise<Response> {
  refuseUnknown(new URL(c.req.url).searchParams, []);
  if (!isJson(c.req.header('Content-Type'))) return buildTypeProblem();
  const text = await c.req.text();
  const { body, type, headers } = build(parseArguments(schema, parseBody(text, hints)), text);
  return c.body(body as Uint8Array<ArrayBuffer>, 200, {
    ...headers,
    'Content-Type': type,
    'Cache-Control': 'no-store',
  });
}

function isJson(type = ''): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

function parseBody(text: string, { example }: Hints): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ServiceError('bad_input', 'The body is not JSON.', {
      hint: `Send ${example}.`,
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
