import type { Catalogue } from '../catalogue/database.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../catalogue/transaction.ts';
import { withdrawDeclarations } from '../catalogue/write/declarations.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { openTextResolver } from '../fetching/text-records.ts';
import type { Finding } from '../model/declaration.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import type { ApiDocument } from '../sources/document-declarations.ts';
import { readWholeDocument } from '../sources/host-documents.ts';
import { parseListedUrl } from '../sources/outside-address.ts';
import { getSourceName, getUniqueSourceName } from '../sources/source-name.ts';
import { getUserAgent } from '../views/site.ts';
import { type Recording, recordInBatches } from './record-declarations.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildReport,
  buildWithdrawal,
  IMPORT_STOPPED,
  type ImportReport,
} from './report.ts';

const NOTHING =
  'The document states no payment by x402. Its provider adds it as x-payment-info of each payable operation.';
const ALL_REFUSED = 'Everything in the document was refused, for the reasons above.';

interface DocumentImportOptions {
  config: Config;
  now: () => Date;
  signal: AbortSignal;
  /** Address under which everything is listed; default: the addresses in the document. */
  baseUrl: string | undefined;
  /** The name of a file's document on record; default: the file's own name. */
  source: string | undefined;
}

/**
 * Imports a provider's own document, OpenAPI with payment information or a `/.well-known/x402` file. Its listings are
 * recorded, and listings that it no longer declares lose its declaration. Throws `bad_input` if the whole document
 * cannot be taken, and what reading it throws; then nothing is recorded.
 */
export async function importDocument(
  catalogue: Catalogue,
  pathOrAddress: string,
  options: DocumentImportOptions,
): Promise<ImportReport> {
  const started = options.now();
  const before = await getRevision(catalogue);
  const name = await getUniqueSourceName(pathOrAddress, options.source);
  const document = await readDocument(pathOrAddress, name, started, options);
  const recording = await recordInBatches(catalogue, document.declarations, options);
  const findings = [...document.findings, ...buildFailureFindings(recording, false)];
  const isThrough = recording.left === 0;
  const withdrawn = isThrough
    ? await completeDocumentImport(catalogue, document.kind, name, findings, recording, options.now())
    : [];
  const report = {
    feed: name,
    revision: { before, after: await getRevision(catalogue) },
    items: document.items,
    outcomes: [
      ...buildOutcomes(recording, false),
      ...(await Promise.all(
        withdrawn.map(async (slug) => buildWithdrawal(slug, await findListing(catalogue, { slug }))),
      )),
    ],
    findings,
    took_ms: options.now().getTime() - started.getTime(),
  };
  const { received, taken, refused } = document.items;
  return buildReport(report, {
    shortfall: isThrough ? (received === 0 ? NOTHING : null) : IMPORT_STOPPED,
    advice: taken === 0 && refused > 0 ? ALL_REFUSED : null,
  });
}

async function readDocument(
  pathOrAddress: string,
  name: string,
  at: Date,
  { config, signal, baseUrl }: DocumentImportOptions,
): Promise<ApiDocument> {
  const base_url = baseUrl === undefined ? null : readBaseUrl(baseUrl, config);
  const { allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const resolver = openTextResolver();
  try {
    const options = { name, base_url, allowPrivateNetworks, now: at.toISOString() };
    const read = await readWholeDocument(pathOrAddress, options, { client, resolver, signal });
    if (!('code' in read)) return read;
    throw new ServiceError('bad_input', read.message, { reason: read.code, hint: read.hint });
  } finally {
    resolver.close();
    await client.close();
  }
}

function readBaseUrl(text: string, config: Config): string {
  const url = parseListedUrl(text, config);
  if (url instanceof URL) return getCanonicalBaseUrl(`${url.origin}${url.pathname}`);
  throw new ServiceError('bad_input', `Nothing can be listed under ${getSourceName(text)}. ${url.message}`, {
    reason: url.code,
    hint: 'Give the base address of the API, such as https://api.example.com.',
  });
}

/** Completes an import whose listings are all recorded. Returns the slugs of those that the document no longer declares. */
async function completeDocumentImport(
  catalogue: Catalogue,
  read: ApiDocument['kind'],
  name: string,
  findings: readonly Finding[],
  { recorded, failed }: Recording,
  at: Date,
): Promise<string[]> {
  const held = new Set([...recorded, ...failed].map(({ id }) => id));
  return await writeCatalogue(catalogue, at.toISOString(), async (writing) => {
    await recordFindings(writing, name, findings);
    const slugs: string[] = [];
    // A file of one kind before may be one of the other now.
    for (const kind of ['openapi', 'x402_file'] as const) {
      const kept = kind === read ? held : new Set<string>();
      slugs.push(...(await withdrawDeclarations(writing, { kind, name }, kept, { cause: 'absent_from_document' })));
    }
    return slugs;
  });
}
