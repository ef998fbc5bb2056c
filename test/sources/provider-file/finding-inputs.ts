import type { Finding } from '../../../src/model/declaration.ts';
import type { FindingCode } from '../../../src/sources/findings.ts';
import { readProviderStatement } from '../../../src/sources/provider-file/read.ts';
import { serveDocuments } from '../../importing/document-server.ts';
import { NOW } from '../../records.ts';
import { openClient, parse } from './statements.ts';

async function ofHost(statement: unknown): Promise<Finding[]> {
  const { origin } = await serveDocuments({ '/.well-known/agent-payable.json': { body: statement } });
  const read = await readProviderStatement(openClient(), origin, { allowPrivateNetworks: true, now: NOW });
  return 'findings' in read ? read.findings : [];
}

/** One statement for each code that reading one can report. */
export const STATEMENT_INPUTS = {
  provider_file_too_large: () => ofHost(`{"version": 1, "x": "${'x'.repeat(64 * 1024)}"}`),
  provider_file_unreadable: () => parse('{"version": 1').findings,
  provider_file_bad_value: () => parse({ version: 1, listings: [{}] }).findings,
  provider_unknown_field: () => parse({ version: 1, listings: [], owner: 'me' }).findings,
  provider_other_origin: () =>
    parse({ version: 1, listings: [{ base_url: 'https://b.example', listed: true }] }).findings,
  provider_duplicate_listing: () => parse({ version: 1, listings: [{ listed: true }, { listed: false }] }).findings,
  provider_document_failed: () => ofHost({ version: 1, listings: [{ listed: true, openapi: '/openapi.json' }] }),
} satisfies Partial<Record<FindingCode, () => Finding[] | Promise<Finding[]>>>;
