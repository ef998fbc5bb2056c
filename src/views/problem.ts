import { z } from 'zod';

/** An error answer (RFC 9457), `application/problem+json`. `code` is stable; `detail` and `hint` are for people. */
export const problem = z
  .looseObject({
    type: z.string().describe('about:blank: the status and the code say it all'),
    title: z.string().describe('The HTTP status in words'),
    status: z.int().min(400).max(599),
    code: z.string().describe('Stable reason code'),
    detail: z.string().describe('What went wrong, in one sentence'),
    hint: z.string().optional().describe('What to do next'),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;
