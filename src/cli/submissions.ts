import { z } from 'zod';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { importProvider } from '../importing/provider.ts';
import { cutText } from '../model/text.ts';
import { openQueue, readQueue, type Submission } from '../submissions/queue.ts';
import { type Command, type CommandContext, defineCommand, statedReason } from './command.ts';
import { type ImportResult, renderReport } from './import-report.ts';
import { withWritableCatalogue } from './open-catalogue.ts';
import { formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';

/** Number of the latest submissions that are listed. */
const MAX_LISTED = 500;

const input = z
  .object({
    action: z.enum(['show', 'take', 'refuse'], 'show, take or refuse').optional(),
    host: z.string().min(1, 'a host or the id of a submission').optional(),
    reason: statedReason.optional(),
  })
  .refine(({ action, host }) => (action === undefined) === (host === undefined), 'show, take and refuse take one host.')
  .refine(
    ({ action, reason }) => (action === 'refuse') === (reason !== undefined),
    'refuse takes --reason <words>; nothing else does.',
  );
type Input = z.infer<typeof input>;

type Result =
  | { submissions: Submission[] }
  | { submission: Submission }
  | { submission: Submission; taken: ImportResult };

export const submissions: Command = defineCommand({
  summary: 'List what providers submitted, and take or refuse a host where nothing probes',
  details:
    'Reads the queue of the intake (SUBMISSIONS). A prober reads received hosts by itself; take has the provider’s file of a ' +
    'host read now, as import --provider does. refuse shows the reason on the page of the ' +
    'submission. The host can be submitted again after 30 days. A listing is removed by delist.',
  arguments: [
    ['[action]', 'show, take or refuse; without it, the list'],
    ['[host]', 'the host, or the id at the end of the address of a submission'],
  ],
  options: [['--reason <words>', 'with refuse: why']],
  examples: [
    ['submissions', 'all of the last 30 days, the newest first'],
    ['submissions show api.example.com', 'one, with what happened and what is wrong'],
    ['submissions take api.example.com', 'read its file now'],
    ['submissions refuse api.example.com --reason "It imitates another provider"', 'say no, and why'],
  ],
  input,
  run: runSubmissions,
  render: (result, page) => {
    if ('submissions' in result) return renderList(result.submissions, page);
    if ('taken' in result) return renderReport(result.taken, page);
    return renderOne(result.submission, page);
  },
});

async function runSubmissions({ action, host = '', reason }: Input, context: CommandContext): Promise<Result> {
  const config = context.getConfig();
  const { submissionsFile } = config;
  if (action === undefined) return { submissions: readQueue(submissionsFile, (queue) => queue.list(MAX_LISTED)) ?? [] };
  const submission = getSubmission(config, host);
  const { id, origin } = submission;
  if (action === 'show') return { submission };
  if (reason !== undefined) {
    const queue = openQueue(submissionsFile);
    try {
      const at = context.now().toISOString();
      return { submission: queue.move(id, { state: 'refused', at, reason }) ?? submission };
    } finally {
      queue.close();
    }
  }
  const taken = await withWritableCatalogue(context, { create: true }, (catalogue) =>
    importProvider(catalogue, origin, { config, now: context.now, signal: context.signal }),
  );
  return { submission, taken: { ...taken, dry_run: false } };
}

/** Returns the submission of a host, or the one with an id. Throws `not_found`. */
function getSubmission({ submissionsFile }: Config, host: string): Submission {
  const origins = [host, `https://${host}`].flatMap((text) => URL.parse(text)?.origin ?? []);
  const find = (queue: { find: (key: string) => Submission | undefined }) =>
    [host, ...origins].map(queue.find).find((one) => one !== undefined);
  const found = readQueue(submissionsFile, find);
  if (found) return found;
  throw new ServiceError('not_found', `"${cutText(host, 100)}" was not submitted in the last 30 days.`, {
    hint: 'The command submissions lists what was. import --provider reads the file of any host.',
    reason: 'no_submission',
  });
}

function renderList(list: readonly Submission[], page: Page): void {
  if (list.length === 0) {
    page.say('Nothing was submitted in the last 30 days.');
    return;
  }
  page.table(
    [{ heading: 'submitted' }, { heading: 'state' }, { heading: 'host' }, { heading: 'reason', cut: true }],
    list.map(({ at, state, origin, history }) => [formatTime(at), state, origin, history.at(-1)?.reason ?? '']),
  );
}

function renderOne({ id, origin, history, problems }: Submission, page: Page): void {
  page.facts([
    ['host', origin],
    ['id', id],
    ...history.map(({ at, state, reason }) => [state, `${formatTime(at)}: ${reason}`] as const),
  ]);
  for (const { place, detail, fix } of problems) {
    page.say({ text: `${place ?? 'the file'}: ${detail}`, style: 'yellow' });
    if (fix !== undefined) page.say(`Fix: ${fix}`, 2);
  }
}
