import { isServiceError } from '../errors.ts';
import { getWideNetwork } from '../http/client.ts';
import { openPublished, type Published } from '../published/file.ts';
import { findSubmitted, type Submitted } from '../published/submitted.ts';
import { getProviderFileUrl } from '../sources/provider-file/read.ts';
import { KEPT_MS, type openQueue, READ_WITHIN_MS, type Submission } from '../submissions/queue.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { CheckLine } from '../views/provider-check.ts';
import type { Site } from '../views/site.ts';
import { buildListed, listNextSteps, type SubmissionView, writeStatement } from '../views/submission.ts';
import type { Checks, KeptReport, Report } from './checks.ts';
import type { Refusal } from './limits.ts';

/** Time between two checks for the outcome of received submissions, in milliseconds, and most submissions in one of them. */
const LOOK_MS = 5_000;
const LOOKED_AT = 1_000;

/** Most problems of a submission that are stored, and their total length as JSON. */
const KEPT_PROBLEMS = 50;
const KEPT_LENGTH = 32_000;

/** Most routes in a file that is filled in. */
const MAX_ROUTES = 30;

const REFUSED = {
  status: 409,
  code: 'refused',
  detail: 'The operator of this catalogue refused this host.',
  hint: 'The address of the submission says why.',
} as const;

interface SubmissionsOptions {
  readonly queue: ReturnType<typeof openQueue>;
  /** Hashes the name of a client, see `openPseudonyms`. */
  readonly pseudonymise: (name: string) => string;
  readonly publishedFile: string;
  readonly site: Site;
  readonly checks: Checks;
  readonly now: () => Date;
  /** Aborted when the intake ends. */
  readonly closing: AbortSignal;
  readonly onError: (error: unknown) => void;
}

export type Submissions = ReturnType<typeof openSubmissions>;

/** Opens the submissions: their queue, the check of the provider's file, and their outcome. */
export function openSubmissions({
  queue,
  pseudonymise,
  publishedFile,
  site,
  checks,
  now,
  closing,
  onError,
}: SubmissionsOptions) {
  /** Running checks, by submission. */
  const looking = new Map<string, Promise<void>>();
  const getAt = () => now().toISOString();

  /** Reads the published catalogue. Returns undefined if it is missing, or was made by another version of this code. */
  const readPublished = <Result>(work: (published: Published) => Result): Result | undefined => {
    let published: Published | undefined;
    try {
      published = openPublished(publishedFile);
      return work(published);
    } catch (error) {
      // The process that makes the file logs its failures.
      if (!isServiceError(error)) onError(error);
      return undefined;
    } finally {
      published?.close();
    }
  };

  /** Moves a submission on by the public listings of its host. */
  const settle = (submission: Submission, seen: Submitted): Submission => {
    const step = findOutcome(submission, seen, now());
    return (step && queue.move(submission.id, { ...step, at: getAt() })) ?? submission;
  };

  const lookAtAll = (): void => {
    try {
      queue.removeBefore(new Date(now().getTime() - KEPT_MS).toISOString());
      const waiting = queue.listWaiting(LOOKED_AT);
      if (waiting.length === 0) return;
      readPublished((published) => {
        for (const submission of waiting) settle(submission, findSubmitted(published, submission.origin));
      });
    } catch (error) {
      onError(error);
    }
  };
  lookAtAll();
  const everyLook = setInterval(lookAtAll, LOOK_MS);

  /** Waits for the end of a check, and records its result for the file of a submission. */
  const conclude = async ({ id, origin }: Submission, report: Report): Promise<void> => {
    for await (const _lines of checks.follow(report));
    if (closing.aborted) return;
    const { problems, ...step } = judgeFile(origin, report);
    if (queue.find(id)?.state !== 'refused') queue.move(id, { ...step, at: getAt() }, problems);
  };

  return {
    /** Returns the submission of a host. It is the same for everybody who submits the host. */
    submit: (origin: string, client: string): Submission =>
      queue.submit(origin, {
        client: pseudonymise(getWideNetwork(client)),
        at: getAt(),
        file: fillIn(origin, checks.findLatest(origin)),
      }),
    find(id: string): Submission | undefined {
      const found = queue.find(id);
      // The queue also finds submissions by host.
      return found?.id === id ? found : undefined;
    },
    /** Begins the check of the provider's file for a client. Returns its end, or a refusal. */
    confirm(submission: Submission, client: string): Promise<void> | Refusal | typeof REFUSED {
      const { id, origin } = submission;
      const under = looking.get(id);
      if (under) return under;
      if (submission.state === 'refused') return REFUSED;
      const begun = checks.begin(client, `${origin}/`);
      if (!('id' in begun)) return begun;
      const end = conclude(submission, begun).catch(onError);
      const looked = end.finally(() => looking.delete(id));
      looking.set(id, looked);
      return looked;
    },
    /** Returns true if any submission is received and waits for its outcome. */
    isAnyReceived: (): boolean => queue.listWaiting(1).length > 0,
    /** Returns a submission in the form that its address shows. */
    view(found: Submission): SubmissionView {
      const submitted = readPublished((published) => findSubmitted(published, found.origin));
      const submission = submitted ? settle(found, submitted) : found;
      const { id, origin, state, history, problems, file } = submission;
      const { at, reason } = history.at(-1) ?? { at: submission.at, reason: '' };
      const live = state === 'listed' ? (submitted?.live ?? []) : [];
      const next = live.slice(0, 1).flatMap((item) => listNextSteps(item, at));
      return {
        submission_url: buildUrl(site.baseUrl, PATHS.submission(id)),
        host: origin,
        state,
        reason,
        at,
        file_url: getProviderFileUrl(origin),
        file,
        checking: looking.has(id),
        problems,
        history,
        next,
        listings: live.map((item) => buildListed(item, site)),
      };
    },
    async close(): Promise<void> {
      clearInterval(everyLook);
      await Promise.all(looking.values());
    },
  };
}

type Step = Pick<Submission['history'][number], 'state' | 'reason'>;

/** Returns the outcome of a received submission by the public listings of its host; undefined while there is none. */
function findOutcome({ state, received_at }: Submission, { live, removed }: Submitted, now: Date): Step | undefined {
  if (state === 'refused' || state === 'listed' || received_at === null) return undefined;
  if (live.length > 0)
    return { state: 'listed', reason: `It is listed: ${live.map(({ title }) => title).join(', ')}.` };
  if (state !== 'received') return undefined;
  const day = removed?.delisted_at.slice(0, 10);
  // This is no refusal of the host, which may sell something else; and the operator may put the listing back.
  if (removed) return { state: 'problems', reason: `The operator removed it on ${day}: ${removed.reason}` };
  if (now.getTime() - Date.parse(received_at) <= READ_WITHIN_MS) return undefined;
  const reason = 'It was not listed within a day. Look whether the file is still there, and say so again.';
  return { state: 'problems', reason };
}

/** Describes the result of a check for the provider's file. */
function judgeFile(origin: string, { view, files }: Report): Step & { problems: CheckLine[] } {
  const url = getProviderFileUrl(origin);
  const came = view.asked.findLast((exchange) => exchange.url === url)?.came ?? 'it was not asked for';
  if (!files || files.statement === 'absent') {
    const code = files?.reason ?? 'not_found';
    const why = /^status_|^not_found$/.test(code) ? '' : ` (${code.replaceAll('_', ' ')})`;
    const reason = `The file is not there. ${url} came as: ${came}${why}.`;
    return { state: 'problems', reason, problems: [] };
  }
  const problems = cutLines(files.problems);
  const isPriced = view.listings.some(({ routes }) => routes.some(({ price_usdc }) => price_usdc));
  const count = problems.filter(({ severity }) => severity === 'required').length;
  if (count === 0 && files.wanted > 0 && isPriced) {
    const reason = 'The file is there, and it is good. It waits to be read for the catalogue.';
    return { state: 'received', reason, problems: [] };
  }
  const things = `${count} ${count === 1 ? 'thing' : 'things'} in it must be corrected`;
  const wrong = count > 0 ? things : 'it names no route with a price';
  return { state: 'problems', reason: `The file is there (${came}), but ${wrong}.`, problems };
}

/** Fills in a provider file from the check of its host: with its document, or its routes; null if neither is known. */
function fillIn(origin: string, report: KeptReport | undefined): string | null {
  if (!report || report.files?.statement === 'statement') return null;
  const { document } = report.files ?? {};
  if (document) return writeStatement([{ base_url: origin, listed: true, openapi: document }]);
  const listings = report.view.listings.flatMap(({ base_url, title, routes }) => {
    const priced = routes
      .filter(({ listable, price_usdc }) => listable && price_usdc !== undefined)
      .slice(0, MAX_ROUTES);
    if (priced.length === 0 || new URL(base_url).origin !== origin) return [];
    const facts = priced.map(({ url, method, price_usdc }) => {
      return { method, path: url.slice(base_url.length), price_usdc };
    });
    return [{ base_url, listed: true, facts: { name: title, routes: facts } }];
  });
  return listings.length > 0 ? writeStatement(listings) : null;
}

/** Returns the lines that fit into the store. */
function cutLines(lines: readonly CheckLine[]): CheckLine[] {
  let length = 0;
  return lines.slice(0, KEPT_PROBLEMS).filter((line) => {
    length += JSON.stringify(line).length;
    return length <= KEPT_LENGTH;
  });
}
