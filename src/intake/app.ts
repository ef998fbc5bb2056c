import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { stream } from 'hono/streaming';
import { isServiceError } from '../errors.ts';
import type { GetClient } from '../http/client.ts';
import { keepPrivate, secure } from '../http/headers.ts';
import { buildProblem, buildProblemResponse, NO_PAGES, NOTHING_HERE } from '../http/problem.ts';
import type { Env } from '../http/request.ts';
import { parseArguments } from '../model/arguments.ts';
import { listPaths, PATHS } from '../views/links.ts';
import { checkRequest, LINES_END, type ReportView, type SubmitPage } from '../views/provider-check.ts';
import type { Site } from '../views/site.ts';
import type { Checks, Report } from './checks.ts';
import type { Refusal } from './limits.ts';
import {
  addSubmissionRoutes,
  type RenderIntakePage,
  type SubmissionRoutesOptions,
  sendPage,
} from './submission-routes.ts';
import type { Submissions } from './submissions.ts';
import { BAD_ADDRESS, readAddress } from './typed.ts';

/** Largest question, in bytes, and longest address, in characters. */
const MAX_QUESTION_BYTES = 8 * 1024;
const ADDRESS_LENGTH = 2048;

const NO_REPORT = { status: 404, detail: 'There is no such report.', hint: 'Reports are kept for a day.' } as const;
const TOO_LARGE = { status: 413, code: 'too_large', detail: `The body is larger than ${MAX_QUESTION_BYTES} bytes.` };

interface IntakeOptions {
  readonly site: Site;
  readonly checks: Checks;
  readonly getClient: GetClient;
  readonly allowPrivateNetworks: boolean;
  readonly submissions: Submissions;
  readonly take: SubmissionRoutesOptions['take'];
  readonly render: RenderIntakePage;
  readonly onError: (error: unknown) => void;
}

/** Creates the app of the intake: checks and submissions, as pages and as JSON. */
export function createIntake(options: IntakeOptions): Hono<Env> {
  const { site, checks, getClient, allowPrivateNetworks, onError } = options;
  const render = (submission: SubmitPage) => options.render({ submission });
  const app = new Hono<Env>();

  const begin = (c: Context<Env>, text: string): Report | Refusal => {
    const url = readAddress(text, allowPrivateNetworks);
    return url ? checks.begin(c.env.incoming ? getClient(c.env.incoming) : '', url.href) : BAD_ADDRESS;
  };

  const show = async (c: Context<Env>, page: SubmitPage, problem?: Refusal | typeof NO_REPORT) =>
    sendPage(c, await render({ ...page, ...(problem && { problem }) }), problem);

  /** Sends the page of a report while it grows: `pieces` are sent before the lines, after them, and after the result. */
  const sendLines = (c: Context<Env>, report: Report, pieces: readonly string[]): Response => {
    c.header('Content-Type', 'text/html; charset=utf-8');
    // Otherwise nginx would hold the page back until it is complete.
    c.header('X-Accel-Buffering', 'no');
    const renderPart = async (part: 'lines' | 'result', lines: ReportView['checks']) =>
      (await render({ url: report.view.resource, part, report: { ...report.view, checks: lines } })) ?? '';
    return stream(c, async (sent) => {
      await sent.write(pieces[0] ?? '');
      for await (const lines of checks.follow(report)) {
        if (sent.aborted) return;
        await sent.write(lines.length > 0 ? await renderPart('lines', lines) : '\n');
      }
      await sent.write(`${pieces[1]}${await renderPart('result', report.view.checks)}${pieces[2]}`);
    });
  };

  app.use(keepPrivate);
  app.use(secure(site.baseUrl, false));
  app.use(bodyLimit({ maxSize: MAX_QUESTION_BYTES, onError: () => buildProblem(TOO_LARGE) }));
  addSubmissionRoutes(app, options);
  app.get(PATHS.submit, (c) => {
    const { host = '', url = host } = c.req.query();
    return show(c, { url: url.slice(0, ADDRESS_LENGTH) });
  });
  app.post(PATHS.submit, async (c) => {
    const { url = '' } = await c.req.parseBody();
    const text = String(url).trim();
    const begun = begin(c, text);
    if ('id' in begun) return c.redirect(PATHS.submitted(begun.id), 303);
    return show(c, { url: text.slice(0, ADDRESS_LENGTH) }, begun);
  });
  app.get(PATHS.submitted(':id'), async (c) => {
    const report = checks.find(c.req.param('id') ?? '');
    if (!report) return show(c, { url: '' }, NO_REPORT);
    const page = { url: report.view.resource, report: report.view };
    if (report.view.state === 'done') return show(c, page);
    const pieces = (await render({ ...page, report: { ...report.view, checks: [] } }))?.split(LINES_END);
    return pieces ? sendLines(c, report, pieces) : buildProblem(NO_PAGES);
  });
  app.on('POST', listPaths(PATHS.providersCheck), async (c) => {
    const { url, resource = '' } = parseArguments(checkRequest, await c.req.json().catch(() => undefined));
    const begun = begin(c, url ?? resource);
    if (!('id' in begun)) return buildProblem({ ...begun });
    c.header('Content-Type', 'application/json');
    c.header('Location', begun.view.report_url);
    return stream(c, async (sent) => {
      // JSON may begin with blanks. They keep the connection alive during the check.
      for await (const lines of checks.follow(begun)) if (lines.length === 0) await sent.write(' ');
      const { items: _items, ...json } = begun.view;
      await sent.write(JSON.stringify(json));
    });
  });
  app.notFound(() => buildProblem(NOTHING_HERE));
  app.onError((error) => {
    if (!isServiceError(error)) onError(error);
    return buildProblemResponse(error);
  });
  return app;
}
