import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { GetClient } from '../http/client.ts';
import { buildProblem, NO_PAGES } from '../http/problem.ts';
import type { Env } from '../http/request.ts';
import { parseArguments } from '../model/arguments.ts';
import { PATHS } from '../views/links.ts';
import type { SubmitPage } from '../views/provider-check.ts';
import { type JourneyPage, submissionRequest } from '../views/submission.ts';
import type { Submissions } from './submissions.ts';
import { BAD_ADDRESS, readAddress } from './typed.ts';

/** Longest time that an answer waits for a check, in milliseconds. */
const LONGEST_MS = 20_000;

const NO_SUBMISSION = {
  status: 404,
  code: 'no_submission',
  detail: 'There is no such submission.',
  hint: 'Submissions are kept for 30 days. Submit the host again.',
} as const;

/** Time after which the page of a submission reloads while its state can change by itself, in seconds. */
const REFRESH_SECONDS = 3;

export interface SubmissionRoutesOptions {
  readonly submissions: Submissions;
  /** Counts a request of a client. Returns a problem if the client may not make it. */
  readonly take: (client: string) => Problem | undefined;
  readonly getClient: GetClient;
  readonly allowPrivateNetworks: boolean;
  readonly render: RenderIntakePage;
}

/** Renders a page of the intake; undefined while pages are not compiled. */
export type RenderIntakePage = (
  page: { submission: SubmitPage } | { journey: JourneyPage },
) => Promise<string | undefined>;

interface Problem {
  readonly status: 400 | 404 | 409 | 429 | 503;
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly retry_after_seconds?: number;
}

/** Adds the routes of submissions. Forms are answered by pages, JSON by JSON. */
export function addSubmissionRoutes(app: Hono<Env>, options: SubmissionRoutesOptions): void {
  const { submissions, take, getClient, allowPrivateNetworks, render } = options;
  const getWho = (c: Context<Env>) => (c.env.incoming ? getClient(c.env.incoming) : '');

  const show = async (c: Context<Env>, page: Parameters<typeof render>[0], problem?: Problem) =>
    sendPage(c, await render(page), problem);
  const refuse = (c: Context<Env>, problem: Problem, url = '') =>
    isForm(c) ? show(c, { submission: { url, problem } }, problem) : buildProblem({ ...problem });

  app.post(PATHS.submissions, async (c) => {
    const { url: text } = parseArguments(submissionRequest, await readBody(c));
    const url = readAddress(text, allowPrivateNetworks);
    const refusal = url ? take(getWho(c)) : BAD_ADDRESS;
    if (!url || refusal) return refuse(c, refusal ?? BAD_ADDRESS, text);
    const { id } = submissions.submit(url.origin, getWho(c));
    return isForm(c) ? c.redirect(PATHS.submission(id), 303) : sendView(c, id, 201);
  });

  /** Sends a submission as JSON. */
  const sendView = (c: Context<Env>, id: string, status: 200 | 201 = 200) => {
    const found = submissions.find(id);
    if (!found) return buildProblem({ ...NO_SUBMISSION });
    const view = submissions.view(found);
    c.header('Location', view.submission_url);
    return c.json(view, status);
  };

  app.get(PATHS.submission(':id'), (c) => {
    const [, id = '', ending] = /^(.*?)(\.json)?$/.exec(c.req.param('id') ?? '') ?? [];
    if (ending || wantsJson(c)) return sendView(c, id);
    return showJourney(c, id);
  });

  const showJourney = (c: Context<Env>, id: string, problem?: Problem) => {
    const found = submissions.find(id);
    if (!found) return refuse(c, NO_SUBMISSION);
    const journey = { view: submissions.view(found), problem };
    const { checking, state } = journey.view;
    if (checking || state === 'received') c.header('Refresh', String(REFRESH_SECONDS));
    return show(c, { journey }, problem);
  };

  app.post(PATHS.submission(':id'), async (c) => {
    const id = c.req.param('id') ?? '';
    const found = submissions.find(id);
    if (!found) return refuse(c, NO_SUBMISSION);
    const end = submissions.confirm(found, getWho(c));
    if (!(end instanceof Promise)) return isForm(c) ? showJourney(c, id, end) : refuse(c, end);
    if (isForm(c)) return c.redirect(PATHS.submission(id), 303);
    await Promise.race([end, sleep(LONGEST_MS, undefined, { ref: false })]);
    return sendView(c, id);
  });
}

/** Sends a page, with the status of the problem that it shows. `html` is undefined while pages are not compiled. */
export function sendPage(
  c: Context<Env>,
  html: string | undefined,
  problem?: Pick<Problem, 'status' | 'retry_after_seconds'>,
): Response | Promise<Response> {
  if (html === undefined) return buildProblem(NO_PAGES);
  if (problem?.retry_after_seconds !== undefined) c.header('Retry-After', String(problem.retry_after_seconds));
  return c.html(html, problem?.status ?? 200);
}

function isForm(c: Context<Env>): boolean {
  return !/\bjson\b/i.test(c.req.header('content-type') ?? '') && !wantsJson(c);
}

function wantsJson(c: Context<Env>): boolean {
  const [html, json] = ['text/html', 'application/json'];
  return accepts(c, { header: 'Accept', supports: [html, json], default: html }) === json;
}

async function readBody(c: Context<Env>): Promise<Record<string, unknown>> {
  const isJson = /\bjson\b/i.test(c.req.header('content-type') ?? '');
  const body: unknown = isJson ? await c.req.json().catch(() => ({})) : await c.req.parseBody();
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
