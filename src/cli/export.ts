import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { holdState } from '../catalogue/database.ts';
import { listChanges } from '../catalogue/read/changes.ts';
import { countListings } from '../catalogue/read/counts.ts';
import { iterateListings } from '../catalogue/read/listings.ts';
import { listSqliteFiles } from '../catalogue/sqlite-file.ts';
import { getCatalogueState, getRevision } from '../catalogue/transaction.ts';
import { ServiceError } from '../errors.ts';
import { formatJson } from '../model/json-text.ts';
import { isLive } from '../model/listing.ts';
import { getSite } from '../site/settings.ts';
import { buildPublicListing, findTombstone } from '../views/listing/record.ts';
import { buildAgentRoute } from '../views/listing/route-record.ts';
import type { Site } from '../views/site.ts';
import { formatCount } from '../views/words/figures.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { withReadableCatalogue } from './open-catalogue.ts';
import { formatBytes } from './terminal/format.ts';

export const exportCatalogue: Command = defineCommand({
  summary: 'Write the public catalogue: live listings and tombstones',
  details:
    'One JSON value on each line (NDJSON): first the catalogue, then every live listing by slug, as in ' +
    '/agent/listings/{slug}, then every tombstone; "kind" says which. With --json it is one document. The same ' +
    'revision gives the same bytes.',
  options: [
    ['--output <file>', 'write to a file; only an earlier export is replaced, once this one is complete'],
    ['--force', 'replace the file, whatever it contains'],
  ],
  examples: [
    ['export --output catalogue.ndjson', 'lines, into a file'],
    ['export --json --output public/catalogue.json', 'one document, into a file'],
  ],
  input: z
    .object({ output: z.string().min(1, 'a file name').optional(), force: z.boolean().default(false) })
    .refine(({ output, force }) => output !== undefined || !force, '--force goes with --output.'),
  run: ({ output, force }, context) =>
    withReadableCatalogue(context, async (catalogue) => {
      if (output !== undefined) checkTarget(output, { catalogueFile: catalogue.address, force });
      return await holdState(catalogue, (held) => writeExport(held, output, context));
    }),
  render: ({ file, listings, tombstones, bytes, revision }, page) => {
    const what = `${formatCount(listings, 'listing')} and ${formatCount(tombstones, 'tombstone')} of revision ${revision}`;
    page.say(`Wrote ${what} into ${file} (${formatBytes(bytes)}).`);
  },
});

async function writeExport(
  catalogue: Catalogue,
  output: string | undefined,
  { json, stdout, signal, getConfig }: CommandContext,
): Promise<ExportOutcome | undefined> {
  const site = getSite(getConfig());
  const pieces = json ? generateJson(catalogue, site) : generateLines(catalogue, site);
  if (output !== undefined) {
    return writeExportFile(output, pieces, { revision: await getRevision(catalogue), signal });
  }
  for await (const { text } of pieces) {
    if (signal.aborted) break;
    if (!stdout.write(text)) await once(stdout, 'drain');
  }
  return undefined;
}

/** A piece of an export, and its kind. */
export interface ExportPiece {
  kind: 'catalogue' | 'listing' | 'tombstone' | 'punctuation';
  text: string;
}

interface Entry {
  kind: 'catalogue' | 'listing' | 'tombstone';
  value: object;
}

/** Generates the export as lines of JSON, each with its `kind`. */
export async function* generateLines(catalogue: Catalogue, site: Site): AsyncGenerator<ExportPiece> {
  for await (const { kind, value } of generateEntries(catalogue, site)) {
    yield { kind, text: `${formatJson({ kind, ...value })}\n` };
  }
}

/** Generates the export as one JSON document: `{"catalogue": …, "listings": […], "tombstones": […]}`. */
async function* generateJson(catalogue: Catalogue, site: Site): AsyncGenerator<ExportPiece> {
  let last: Entry['kind'] | undefined;
  for await (const { kind, value } of generateEntries(catalogue, site)) {
    const json = formatJson(value);
    if (kind === 'catalogue') yield { kind, text: `{"catalogue":${json},\n"listings":[` };
    else if (kind === 'tombstone' && last !== 'tombstone') yield { kind, text: `\n],\n"tombstones":[\n${json}` };
    else yield { kind, text: `${last === 'catalogue' ? '' : ','}\n${json}` };
    last = kind;
  }
  yield { kind: 'punctuation', text: last === 'tombstone' ? '\n]}\n' : '\n],\n"tombstones":[]}\n' };
}

async function* generateEntries(catalogue: Catalogue, site: Site): AsyncGenerator<Entry> {
  const { revision, revised_at } = await getCatalogueState(catalogue);
  const { live, verified } = await countListings(catalogue);
  const counts = { live_listings: live, settlement_verified: verified };
  yield { kind: 'catalogue', value: { title: site.serviceTitle, revision, revised_at, ...counts } };
  for await (const listing of iterateListings(catalogue)) {
    if (!isLive(listing)) continue;
    const decisions = await listChanges(catalogue, listing.slug);
    const { routes, ...head } = buildPublicListing(listing, site);
    yield { kind: 'listing', value: { ...head, routes: routes.map(buildAgentRoute), decisions } };
  }
  for await (const listing of iterateListings(catalogue)) {
    const tombstone = findTombstone(listing);
    if (tombstone) yield { kind: 'tombstone', value: tombstone };
  }
}

/** The result of an export into a file. */
export interface ExportOutcome {
  file: string;
  bytes: number;
  revision: number;
  listings: number;
  tombstones: number;
}

/** Text is written in pieces of this size, in UTF-16 units. */
const WRITE_SIZE = 256 * 1024;

/** The first characters of every export, as lines and as one document. */
const EXPORT_BEGINNINGS = ['{"kind":"catalogue","title":', '{"catalogue":{"title":'];

/**
 * Throws `conflict` (`file_exists`) if `target` exists and is not an export, unless forced, and always if it is the
 * catalogue itself or one of its companion files.
 */
function checkTarget(target: string, { catalogueFile, force }: { catalogueFile: string; force: boolean }): void {
  const file = resolve(target);
  const found = statSync(file, { throwIfNoEntry: false });
  const own = listSqliteFiles(resolve(catalogueFile));
  const isOwn = own.some((path) => path === file || isSameFile(found, statSync(path, { throwIfNoEntry: false })));
  if (isOwn) throw buildConflict(`${file} is the catalogue itself.`, 'Give another file.');
  if (!found || force) return;
  if (found.isFile() && isExport(file)) return;
  throw buildConflict(`${file} already exists and is not an export.`, 'Give another file, or --force to replace it.');
}

function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

function isExport(file: string): boolean {
  const handle = openSync(file, 'r');
  try {
    const start = Buffer.alloc(64);
    const text = start.toString('utf8', 0, readSync(handle, start));
    return EXPORT_BEGINNINGS.some((beginning) => text.startsWith(beginning));
  } finally {
    closeSync(handle);
  }
}

function buildConflict(message: string, hint: string): ServiceError {
  return new ServiceError('conflict', message, { hint, reason: 'file_exists' });
}

/**
 * Writes pieces into a file beside `target`, and renames it once it is complete and on disk. So `target` is always a
 * complete export. Throws `unavailable` if it was stopped, and errors of the file system.
 */
async function writeExportFile(
  target: string,
  pieces: AsyncIterable<ExportPiece>,
  { revision, signal }: { revision: number; signal: AbortSignal },
): Promise<ExportOutcome> {
  const file = resolve(target);
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`);
  const handle = openSync(partial, 'w');
  const outcome = { file, bytes: 0, revision, listings: 0, tombstones: 0 };
  let waiting = '';
  const flush = () => {
    const bytes = Buffer.from(waiting);
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
    outcome.bytes += bytes.length;
    waiting = '';
  };
  try {
    for await (const { kind, text } of pieces) {
      waiting += text;
      if (kind === 'listing') outcome.listings += 1;
      if (kind === 'tombstone') outcome.tombstones += 1;
      if (waiting.length < WRITE_SIZE) continue;
      flush();
      await setImmediate();
      if (signal.aborted) {
        throw new ServiceError('unavailable', 'The export was stopped; the file is unchanged.', {
          reason: 'stopped',
        });
      }
    }
    flush();
    fsyncSync(handle);
    renameSync(partial, file);
    return outcome;
  } finally {
    closeSync(handle);
    rmSync(partial, { force: true });
  }
}
