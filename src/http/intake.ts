import type { IncomingMessage } from 'node:http';
import type { Context, Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { ServiceError } from '../errors.ts';
import type { CheckProvider } from '../mcp/tools/check-provider.ts';
import { listPaths, PATHS } from '../views/links.ts';
import { providerCheck } from '../views/provider-check.ts';
import type { UseIntake } from './intake-process.ts';
import { buildProblem } from './problem.ts';
import { type Env, findIncoming } from './request.ts';

const AWAY = {
  status: 503,
  code: 'intake_away',
  detail: 'Nothing can be checked at the moment.',
  hint: 'Try again in a few seconds.',
} as const;

/** Paths that are passed on to the intake. */
const PASSED_ON: string[] = [
  PATHS.submit,
  PATHS.submitted(':id'),
  PATHS.submission(':id'),
  ...listPaths(PATHS.providersCheck),
];

/** Longest time that an MCP tool waits for a check, in milliseconds. The intake gives the address of its report within 20 s. */
const LONGEST_MS = 25_000;

/** The intake, and the test for proxies whose X-Forwarded-For is trusted. */
interface IntakePassing {
  readonly use: UseIntake;
  readonly isTrustedProxy: (address: string) => boolean;
}

/** The routes that are passed on to the intake, and the check for MCP. */
export interface IntakeGate {
  addRoutes(app: Hono<Env>): void;
  readonly check: CheckProvider;
}

/** Passes requests on to the intake unchanged, with the address of the client. */
export function openIntakeGate({ use, isTrustedProxy }: IntakePassing): IntakeGate {
  /** Writes the client's address for the intake, which trusts the servers that pass requests on. */
  const getForwarded = (incoming: Pick<IncomingMessage, 'socket' | 'headers'> | undefined): string => {
    const peer = incoming?.socket.remoteAddress ?? '';
    const before = isTrustedProxy(peer) ? incoming?.headers['x-forwarded-for'] : undefined;
    return [before, peer].flat().filter(Boolean).join(', ');
  };

  const pass = (c: Context<Env>): Promise<Response> =>
    use(async (url) => {
      if (url === undefined) return buildProblem(AWAY, { 'Retry-After': '5' });
      const { pathname, search } = new URL(c.req.url);
      const headers = { ...c.req.header(), 'X-Forwarded-For': getForwarded(c.env.incoming), Host: undefined };
      try {
        return await proxy(`${url}${pathname}${search}`, { raw: c.req.raw, headers, redirect: 'manual' });
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        return buildProblem(AWAY, { 'Retry-After': '5' });
      }
    });

  return {
    addRoutes(app) {
      app.on(['GET', 'POST'], PASSED_ON, pass);
    },
    async check(question) {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': getForwarded(findIncoming()) };
      const asked = {
        method: 'POST',
        headers,
        body: JSON.stringify(question),
        signal: AbortSignal.timeout(LONGEST_MS),
      };
      const answer = await use(async (url) =>
        url === undefined ? undefined : fetch(`${url}${PATHS.providersCheck}`, asked).catch(() => undefined),
      );
      const json: unknown = await answer?.json().catch(() => undefined);
      if (answer?.ok && json) return providerCheck.parse(json);
      const place = answer?.headers.get('location');
      const late = place
        ? { detail: 'The check takes longer than that.', hint: `Its report will be at ${place}.` }
        : AWAY;
      const { detail = late.detail, hint = late.hint } = Object(json);
      throw new ServiceError('unavailable', String(detail), { hint: String(hint) });
    },
  };
}
