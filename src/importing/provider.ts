import type { Catalogue } from '../catalogue/database.ts';
import { getRevision } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { buildPacedClient, openPace } from '../fetching/pacing.ts';
import { formatQuote } from '../sources/clean-string.ts';
import { parseListedUrl } from '../sources/outside-address.ts';
import { getUserAgent } from '../views/site.ts';
import { type ProviderFileOutcome, readProviderFile } from './provider-statement.ts';
import { buildReport, IMPORT_STOPPED, type ImportReport } from './report.ts';

const UNREADABLE = "The provider's file cannot be read. Once its provider has fixed it, run the same command again.";
const FIX_AND_REPEAT =
  "Something in the provider's file was refused. Once its provider has fixed it, run the same command again.";
/** Pause between two requests to the host, in milliseconds: the same as between two probes. */
const PAUSE_MS = 1000;

interface ProviderImportOptions {
  config: Config;
  now: () => Date;
  signal: AbortSignal;
}

/**
 * Reads the provider's file of a host now, and applies it. Throws `bad_input` for an invalid address, and `not_found`
 * if there is no statement, with its address and an example.
 */
export async function importProvider(
  catalogue: Catalogue,
  address: string,
  { config, now, signal }: ProviderImportOptions,
): Promise<ImportReport> {
  const started = now();
  const before = await getRevision(catalogue);
  const { allowPrivateNetworks } = config;
  const origin = readOrigin(address, config);
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const paced = buildPacedClient(client, openPace(PAUSE_MS, signal));
  const reading = readProviderFile({ client: paced, catalogue, origin, now, allowPrivateNetworks, signal });
  const read = await reading.finally(client.close);
  if (read.kind === 'absent') throw buildAbsence(read, origin);
  const problems = read.findings.filter(({ severity }) => severity === 'refused').length;
  // No entry is known if the file cannot be read, so each problem counts as one.
  const received = read.kind === 'unreadable' ? problems : read.entries;
  const report = {
    feed: read.url,
    revision: { before, after: await getRevision(catalogue) },
    items: { received, taken: read.requests, duplicates: 0, refused: received - read.requests },
    outcomes: read.outcomes,
    effects: read.effects,
    findings: read.findings,
    took_ms: now().getTime() - started.getTime(),
  };
  return buildReport(report, {
    shortfall: read.kind === 'unreadable' ? UNREADABLE : read.left > 0 ? IMPORT_STOPPED : null,
    advice: problems === 0 ? null : FIX_AND_REPEAT,
  });
}

/** Returns the origin of an address. A bare host means its https address. */
function readOrigin(text: string, config: Config): string {
  const url = parseListedUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`, config);
  if (url instanceof URL) return url.origin;
  throw new ServiceError('bad_input', `"${formatQuote(text)}" is not the host of a provider. ${url.message}`, {
    reason: url.code,
    hint: "Give the provider's host, such as https://api.example.com.",
  });
}

/** Description of what is there instead of a statement, by the reason code. */
const FOUND_INSTEAD: Readonly<Record<string, string>> = {
  not_found: 'there is nothing',
  empty: 'the answer is empty',
  html_page: 'there is a web page',
  another_document: 'there is other JSON',
  redirected_elsewhere: 'the host redirects to another origin, which cannot speak for it',
};

function buildAbsence({ url, reason }: ProviderFileOutcome, origin: string): ServiceError {
  const why = FOUND_INSTEAD[reason ?? ''] ?? `it could not be fetched (${reason})`;
  return new ServiceError('not_found', `There is no provider's statement at ${url}: ${why}.`, {
    reason: 'no_statement',
    hint: `The provider must publish one there, such as {"version": 1, "listings": [{"listed": true, "openapi": "${origin}/openapi.json"}]}.`,
    details: { url, found: reason },
  });
}
