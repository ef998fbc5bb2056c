import { onTestFinished } from 'vitest';
import { type GuardedClient, openGuardedClient } from '../../../src/fetching/client.ts';
import type { Finding } from '../../../src/model/declaration.ts';
import { openDocumentFindings } from '../../../src/sources/findings.ts';
import { type ParsedRequest, parseStatement } from '../../../src/sources/provider-file/parse.ts';
import { NOW } from '../../records.ts';

export const STATEMENT_URL = 'https://api.tides-of-tests.com/.well-known/agent-payable.json';
export const ORIGIN = 'https://api.tides-of-tests.com';

/** Facts of a listing with one priced route. */
export const FACTS = {
  name: 'Tides of Tests',
  tagline: 'Heights of tides.',
  routes: [{ method: 'GET', path: '/v1/heights', price_usdc: '0.002' }],
};

/** Parses a statement: its wishes, or why there are none, and what was found. */
export function parse(
  statement: unknown,
  url = STATEMENT_URL,
): { read: ReturnType<typeof parseStatement>; findings: Finding[] } {
  const findings = openDocumentFindings(url);
  const bytes = Buffer.from(typeof statement === 'string' ? statement : JSON.stringify(statement));
  const read = parseStatement(bytes, { url, allowPrivateNetworks: false, now: NOW, findings });
  return { read, findings: findings.list() };
}

/** Parses one entry of a statement that is otherwise well. */
export function parseListing(entry: unknown): { requests: ParsedRequest[]; codes: string[]; messages: string[] } {
  const { read, findings } = parse({ version: 1, listings: [entry] });
  if (read === 'unreadable' || 'absent' in read) throw new Error('the statement cannot be read');
  return {
    requests: read.requests,
    codes: findings.map(({ code }) => code),
    messages: findings.map(({ message }) => message),
  };
}

/** Opens a client that reaches loopback, closed after the test. */
export function openClient(): GuardedClient {
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'tests' });
  onTestFinished(client.close);
  return client;
}
