import { statSync } from 'node:fs';
import { z } from 'zod';
import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { countFuture, isRevisionConsistent, listStaleListings } from '../catalogue/integrity.ts';
import { getCatalogueState, writeCatalogue } from '../catalogue/transaction.ts';
import { repairListings } from '../catalogue/write/repair.ts';
import { type Config, type PayerConfig, readPayerConfig } from '../config.ts';
import { isPublicName } from '../evidence/domains.ts';
import { getFailure } from '../model/failure.ts';
import { httpMethod } from '../model/request.ts';
import { formatUsdc } from '../model/usdc.ts';
import { openRails } from '../paying/networks.ts';
import { findStop } from '../paying/stop-file.ts';
import { checkAddress } from '../probing/check-address.ts';
import { asPublishedError, openPublished } from '../published/file.ts';
import { listPublishedFaults } from '../published/integrity.ts';
import { buildReading, type Reading } from '../published/reading.ts';
import { getCodeVersion } from '../site/page-code.ts';
import { getSite } from '../site/settings.ts';
import { isWebAddress } from '../sources/source-name.ts';
import type { CheckResult } from '../views/provider-check.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { withWritableCatalogue } from './open-catalogue.ts';
import { describePagesState, getPagesState } from './pages-state.ts';
import type { Page } from './terminal/page.ts';

const NAMED_AT_MOST = 5;
const REPAIR = 'check --repair fixes it.';
const CLOCK = 'If this clock is wrong, set it. If it is right, restore a backup from before the other one wrote.';
const DAMAGED = 'Restore a backup; "catalogue restore --help" says how.';

/** The result of one check, and what to do if it is not ok. */
interface Check {
  name: string;
  ok: boolean;
  found: string;
  hint?: string;
}

/** The result for an address, or for the catalogue with the slugs of listings that were repaired first. */
type Result = { ok: boolean } & (CheckResult | { repaired: string[]; checks: Check[] });

export const check: Command = defineCommand({
  summary:
    'Check that all is well: settings, database, what is published, pages, wallets; or what an address or a file would list',
  details:
    'With an address it goes the whole way of an import and a probe, without payment and without writing anything: ' +
    'the 402 of a route, the resources of a document, or, of a host alone, what its documents and its statement ' +
    'say. A host may be written without https://. Of a file it reads what import would read: a manifest, OpenAPI, or ' +
    'an x402 file. It prints what would be listed, and each finding with its code, its place in the document, and the fix to ' +
    'copy. The page /docs/providers/findings explains every code.\n\n' +
    'Changes nothing without --repair. The exit code is 1 if there is a problem; each problem comes with advice.',
  examples: [
    ['check', 'after a restore, or from a monitor'],
    ['check api.example.com', 'why a host is not listed, or what of it would be'],
    ['check mine.yaml', 'what a manifest or a document would list'],
    ['check https://api.example.com/v1/quote --method POST', 'what an address asks'],
    ['check --repair', 'after an upgrade that changes a rule'],
  ],
  arguments: [['[address]', 'a host, the address of a document or of what should answer 402, or a file']],
  options: [
    ['--method <method>', 'of the request to the address (GET)'],
    ['--repair', 'first publish again what does not match the record'],
  ],
  input: z
    .object({
      address: z
        .string()
        .transform((text, { addIssue }) => {
          const found = findAddress(text);
          if (found === undefined) addIssue('a file, a host such as api.example.com, or an http(s) address');
          return found;
        })
        .optional(),
      method: z.enum(httpMethod.options, `one of ${httpMethod.options.join(', ')}`).optional(),
      repair: z.boolean().default(false),
    })
    .refine(({ address, repair }) => address === undefined || !repair, '--repair is for the catalogue alone.')
    .refine(
      ({ address, method }) => method === undefined || (address !== undefined && isWebAddress(address)),
      '--method goes with an address.',
    ),
  run: async ({ address, method = 'GET', repair }, context): Promise<Result> => {
    if (address !== undefined) {
      const found = await checkAddress(context.getConfig(), address, { ...context, method });
      const ok = found.listings.some(({ routes }) => routes.some(({ price_usdc }) => price_usdc !== undefined));
      return { ok, ...found };
    }
    const repaired = repair
      ? await withWritableCatalogue(context, { create: false }, (catalogue) =>
          writeCatalogue(catalogue, context.now().toISOString(), repairListings),
        )
      : [];
    const checks: Check[] = [];
    for await (const one of generateChecks(context)) checks.push(one);
    checks.push(...(await checkWallets()));
    return { ok: checks.every(({ ok }) => ok), repaired, checks };
  },
  render: (result, page) => ('listings' in result ? renderAddressCheck(result, page) : renderChecks(result, page)),
  isDone: ({ ok }) => ok,
});

/** Returns an http(s) address or the path of a file as it is, and the https address of a bare host; else undefined. */
function findAddress(text: string): string | undefined {
  if (isWebAddress(text)) return URL.canParse(text) ? text : undefined;
  if (statSync(text, { throwIfNoEntry: false })?.isFile()) return text;
  const url = URL.parse(`https://${text}`);
  return url && isPublicName(url.hostname) && text.toLowerCase().startsWith(url.hostname) ? url.href : undefined;
}

/** Runs one check after another. Checks that depend on something unreadable are left out. */
async function* generateChecks({ getConfig, now }: CommandContext): AsyncGenerator<Check> {
  const config = await attempt(getConfig);
  if ('failure' in config) return yield { name: 'settings', ok: false, ...config.failure };
  yield { name: 'settings', ok: true, found: `the service is ${config.value.baseUrl}` };
  const opened = await attempt(() => openCatalogueForReading(config.value.catalogueAddress));
  if ('failure' in opened) return yield { name: 'catalogue', ok: false, ...opened.failure };
  const catalogue = opened.value;
  try {
    yield* generateCatalogueChecks(catalogue, now().toISOString());
    yield* generatePublicChecks(config.value, catalogue);
  } finally {
    await catalogue.close();
  }
}

/** The checks of an open catalogue: each lists faults, and has a text for none and a hint for some. */
const CATALOGUE_CHECKS: Readonly<
  Record<
    string,
    { list: (catalogue: Catalogue, at: string) => string[] | Promise<string[]>; well: string; hint: string }
  >
> = {
  database: { list: ({ engine }) => engine.listFaults(), well: 'sound, every reference holds', hint: DAMAGED },
  revision: {
    list: async (catalogue) =>
      (await isRevisionConsistent(catalogue)) ? [] : ['it differs from that of the latest change on record'],
    well: 'that of the latest change on record',
    hint: DAMAGED,
  },
  times: {
    list: async (catalogue, at) => {
      const { count, latest } = await countFuture(catalogue, at);
      return count === 0 ? [] : [`revisions of the future: ${count}, the latest of ${latest}`];
    },
    well: 'no revision is of the future',
    hint: CLOCK,
  },
  listings: {
    list: async (catalogue) =>
      (await listStaleListings(catalogue)).map(({ slug, fields }) => `${slug} (${fields.join(', ')})`),
    well: 'published listings match the record',
    hint: REPAIR,
  },
};

async function* generateCatalogueChecks(catalogue: Catalogue, at: string): AsyncGenerator<Check> {
  const state = await attempt(() => getCatalogueState(catalogue));
  if ('failure' in state) return yield { name: 'catalogue', ok: false, ...state.failure };
  const { revision, identity } = state.value;
  yield { name: 'catalogue', ok: true, found: `${catalogue.name}, identity ${identity}, revision ${revision}` };
  for (const [name, { list, well, hint }] of Object.entries(CATALOGUE_CHECKS)) {
    const faults = await attempt(() => list(catalogue, at));
    // The remaining checks are skipped if the database cannot be read.
    if ('failure' in faults) return yield { name, ok: false, ...faults.failure };
    yield buildCheck(name, faults.value, well, hint);
  }
}

/**
 * Checks what readers are served: the published catalogue beside the catalogue, and the pages beside the published
 * catalogue.
 */
async function* generatePublicChecks(config: Config, catalogue: Catalogue): AsyncGenerator<Check> {
  const hint =
    'npm start and npm run rebuild bring it up to date; where they do not, remove the file, and they make it again.';
  const opened = await attempt(() => openPublished(config.publishedFile));
  if ('failure' in opened) {
    yield { name: 'published', ok: false, ...opened.failure };
    return yield await checkPages(config, catalogue, undefined);
  }
  const published = opened.value;
  try {
    const faults = await attempt(() =>
      listPublishedFaults(catalogue, published, getCodeVersion()).catch((error: unknown) => {
        throw asPublishedError(config.publishedFile, error);
      }),
    );
    if ('failure' in faults) yield { name: 'published', ok: false, ...faults.failure };
    else yield buildCheck('published', faults.value, 'every table is what follows from the catalogue', hint);
    yield await checkPages(config, catalogue, buildReading(published, getSite(config)));
  } finally {
    published.close();
  }
}

/** Checks the pages. `reading` is of the published catalogue, if there is one. */
async function checkPages(config: Config, catalogue: Catalogue, reading: Reading | undefined): Promise<Check> {
  const read = await attempt(async () => getPagesState(config, await getCatalogueState(catalogue), reading));
  if ('failure' in read) return { name: 'pages', ok: false, ...read.failure };
  const state = read.value;
  const found = describePagesState(state);
  if (state.behind.length === 0) return { name: 'pages', ok: true, found };
  return {
    name: 'pages',
    ok: false,
    found,
    hint: `npm run rebuild ${state.revision === null ? 'makes them' : 'puts it right'}.`,
  };
}

function buildCheck(name: string, faults: readonly string[], well: string, hint: string): Check {
  if (faults.length === 0) return { name, ok: true, found: well };
  const more = faults.length > NAMED_AT_MOST ? ` and ${faults.length - NAMED_AT_MOST} more` : '';
  return { name, ok: false, found: `${faults.slice(0, NAMED_AT_MOST).join('; ')}${more}`, hint };
}

async function attempt<Value>(
  work: () => Value | Promise<Value>,
): Promise<{ value: Value } | { failure: { found: string; hint?: string } }> {
  try {
    return { value: await work() };
  } catch (error) {
    const { message, hint } = getFailure(error);
    return { failure: { found: message, ...(hint === undefined ? {} : { hint }) } };
  }
}

function renderChecks(
  { checks, repaired }: { checks: readonly Check[]; repaired: readonly string[] },
  page: Page,
): void {
  if (repaired.length > 0) page.say(`Repaired: ${repaired.join(', ')}.`);
  for (const { name, ok, found, hint } of checks) {
    page.say({ text: `${ok ? 'ok' : 'problem'} ${name}: ${found}`, style: ok ? 'green' : 'red' });
    if (hint !== undefined) page.say(hint, 2);
  }
}

/** Writes what was found at an address, line by line, with place and fix; then what would be listed. */
function renderAddressCheck({ checks, listings }: CheckResult, page: Page): void {
  for (const { passed, severity, item, place, actual, code, detail, fix, example } of checks) {
    const mark = passed ? 'ok' : severity === 'required' ? 'problem' : 'note';
    const style = passed ? 'green' : severity === 'required' ? 'red' : 'yellow';
    page.say({ text: `${mark} ${item}${place ? ` at ${place}` : ''}: ${actual ?? `${code}: ${detail}`}`, style });
    if (fix !== undefined) page.say(`Fix: ${fix}`, 2);
    if (example !== undefined) page.say({ text: example, style: 'dim' }, 4);
  }
  for (const { base_url, title, routes } of listings) {
    page.blank();
    page.title(`Would be listed: ${title}, ${base_url}`);
    page.table(
      [{ heading: 'price' }, { heading: 'route', cut: true }],
      routes.map(({ price_usdc, networks, method, url }) => [
        price_usdc === undefined ? 'no price' : `${price_usdc} USDC on ${networks.join(', ')}`,
        `${method} ${url}`,
      ]),
      2,
    );
  }
}

/** Checks the configured wallets: key, node, balance, and whether payments are stopped. No wallet is ok. */
async function checkWallets(): Promise<Check[]> {
  const opened = await attempt(async () => {
    const payer = readPayerConfig();
    return { payer, rails: await openRails(payer) };
  });
  if ('failure' in opened) return [{ name: 'wallet', ok: false, ...opened.failure }];
  const { payer, rails } = opened.value;
  const checks = await Promise.all(
    rails.map(async ({ network, payer: account, chain }): Promise<Check> => {
      const name = `wallet on ${network}`;
      const asked = await attempt(() => chain.getBalance(account));
      if ('failure' in asked) return { name, ok: false, ...asked.failure };
      const found = `${account} holds ${formatUsdc(asked.value)} USDC`;
      return asked.value > 0
        ? { name, ok: true, found }
        : { name, ok: false, found, hint: 'Send it some USDC to pay with.' };
    }),
  );
  return [...checks, ...listPayerRemarks(payer)];
}

function listPayerRemarks({ stopFile }: PayerConfig): Check[] {
  const stop = findStop(stopFile);
  return stop === null ? [] : [{ name: 'paying', ok: true, found: `stopped: ${stop} (${stopFile})` }];
}
