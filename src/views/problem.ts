import { z } from 'zod';

/** Taken as a built-in, because importing node:http would also load all of fetch, a tenth of the start-up time. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** An error answer (RFC 9457), `application/problem+json`. `code` is stable; `detail` and `hint` are for people. */
export const problem = z
  .looseObject({
    type: z.string().describe('about:blank: the status and the code say it all'),
    title: z.string().describe('The HTTP status in words'),
    status: z.int().min(400).max(599),
    code: z.string().describe('Stable reason code'),
    detail: z.string().describe('What went wrong, in one sentence'),
    hint: z.string().optional().describe('What to do next'),
    request_id: z.string().optional().describe('With a status from 500 on: the id by which our log has the request'),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;

/** Builds the problem document of a failure from its own fields. Type and title depend on the status. */
export function buildProblemBody({
  status,
  ...rest
}: Pick<Problem, 'status' | 'code' | 'detail'> & Record<string, unknown>): Problem {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...rest };
}
