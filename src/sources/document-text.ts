import { parseDocument } from 'yaml';
import { isFileError, ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { parseJsonBody } from '../fetching/json.ts';
import type { FetchInit } from '../fetching/request.ts';
import { findJsonFaults } from '../model/json-text.ts';
import type { FindingCode } from './findings.ts';
import { readLimitedFile } from './limited-file.ts';
import { getSourceName, isWebAddress } from './source-name.ts';

/** Largest document that is read, in bytes. */
const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;

const ADDRESS_HINT = 'Give the address of the document itself, which is often /openapi.json or /.well-known/x402.';

/** Headers and limits for fetching an API document: it may be JSON or YAML, and slow generators get enough time. */
export const DOCUMENT_REQUEST: Pick<FetchInit, 'headers' | 'limits'> = Object.freeze({
  headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5' },
  limits: { totalMs: 60_000, bodyBytes: MAX_DOCUMENT_BYTES, decodedBytes: MAX_DOCUMENT_BYTES },
});

/** The bytes of a document, and its address after redirects; null for a file. */
export interface DocumentBytes {
  bytes: Uint8Array;
  url: string | null;
}

/**
 * Reads the bytes of an API document from an address or a file. Throws `bad_status` (with `details.status`),
 * `too_large`, `unreadable_file`, `not_a_file`, and what the guarded client throws.
 */
export async function readDocumentBytes(
  pathOrAddress: string,
  { client, signal }: { client: Pick<GuardedClient, 'fetch'>; signal: AbortSignal },
): Promise<DocumentBytes> {
  if (!isWebAddress(pathOrAddress)) return { bytes: await readDocumentFile(pathOrAddress), url: null };
  const response = await client.fetch(pathOrAddress, { ...DOCUMENT_REQUEST, signal });
  if (response.status < 200 || response.status > 299) {
    const message = `The document ${getSourceName(pathOrAddress)} was answered with status ${response.status}.`;
    throw new ServiceError('unavailable', message, {
      reason: 'bad_status',
      hint: ADDRESS_HINT,
      details: { status: response.status },
    });
  }
  return { bytes: response.body, url: response.url };
}

/** Reads a file of at most `most` bytes. Throws `too_large`, `unreadable_file` and `not_a_file`. */
export async function readDocumentFile(path: string, most = MAX_DOCUMENT_BYTES): Promise<Uint8Array> {
  const subject = `The file ${getSourceName(path)}`;
  const read = await readLimitedFile(path, most).catch((error: unknown) => {
    const isMissing = isFileError(error, 'ENOENT');
    const message = isMissing ? `There is no file ${getSourceName(path)}.` : `${subject} cannot be read.`;
    throw buildFileError('unreadable_file', message, error);
  });
  if (read === 'not_a_file') throw buildFileError(read, `${subject} is a folder, a pipe or a device.`);
  if (read === 'too_large') throw buildFileError(read, `${subject} is larger than ${formatBytes(most)}.`);
  return read;
}

/** Writes a limit: `10 MB`, `256 KB`. */
function formatBytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / (1024 * 1024)} MB`;
}

function buildFileError(reason: string, message: string, cause?: unknown): ServiceError {
  const hint = 'Give the path of one document, or an address that begins with https://.';
  return new ServiceError('bad_input', message, { reason, hint, cause });
}

/** Largest YAML document. YAML takes far longer to parse than JSON, and large documents are generated anyway. */
const MAX_YAML_BYTES = 4 * 1024 * 1024;

/** Limit for aliases, so that a small text cannot become a huge document. */
const MAX_ALIASES = 100;

/** Reason why a whole document cannot be taken, and the user's next step. */
export interface DocumentProblem {
  code: FindingCode;
  message: string;
  hint: string;
  /** Place of the fault: a line, if that is known. */
  place?: string;
}

/** The content of a document, and its duplicate keys as JSON pointers. */
interface DocumentValue {
  value: unknown;
  duplicateKeys: readonly string[];
}

/**
 * Parses the text of an API document, JSON or YAML, or returns a problem whose message begins with `subject`. Never
 * throws.
 */
export function parseDocumentText(bytes: Uint8Array, subject: string): DocumentValue | DocumentProblem {
  if (bytes.byteLength > MAX_DOCUMENT_BYTES) return buildTooLarge(subject, '10 MB', 'Ask for a smaller one.');
  const start = Buffer.from(bytes.subarray(0, 1024))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .slice(0, 1);
  if (start === '<') return { code: 'document_html', message: `${subject} is a web page.`, hint: ADDRESS_HINT };
  if (start === '{' || start === '[') return parseJson(bytes, subject);
  if (bytes.byteLength > MAX_YAML_BYTES) return buildTooLarge(subject, '4 MB as YAML', 'Give it as JSON.');
  return parseYaml(bytes, subject);
}

function parseJson(bytes: Uint8Array, subject: string): DocumentValue | DocumentProblem {
  const findFaults = () => findJsonFaults(new TextDecoder().decode(bytes));
  try {
    const value = parseJsonBody(bytes, null, `${subject} holds`);
    return { value, duplicateKeys: findFaults().duplicates };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { error: place } = findFaults();
    const problem = { code: 'document_unreadable', hint: 'Check it with a JSON parser.' } as const;
    if (!place) return { ...problem, message: error.message };
    const line = `line ${place.line}, column ${place.column}`;
    return { ...problem, message: `${subject} is not well-formed JSON (${line}).`, place: line };
  }
}

function parseYaml(bytes: Uint8Array, subject: string): DocumentValue | DocumentProblem {
  const unreadable = (why: string, place?: string): DocumentProblem => ({
    ...(place !== undefined && { place }),
    code: 'document_unreadable',
    message: `${subject} is neither JSON nor YAML that can be read: ${why}.`,
    hint: 'Check it with a YAML parser, or give it as JSON.',
  });
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Unique keys are not checked, because the library compares every key with every other, which takes minutes.
    const document = parseDocument(text, {
      uniqueKeys: false,
      stringKeys: true,
      resolveKnownTags: false,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const [error] = document.errors;
    if (error) {
      const line = `line ${text.slice(0, error.pos[0]).split('\n').length}`;
      return unreadable(`${error.message.split('\n')[0]?.replace(/\.$/, '')} (${line})`, line);
    }
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }), duplicateKeys: [] };
  } catch (error) {
    // TypeError: not UTF-8. ReferenceError: too many aliases. RangeError: nested too deeply for the stack.
    if (error instanceof TypeError) return unreadable('it is not UTF-8 text');
    if (error instanceof ReferenceError) return unreadable('its aliases repeat too much');
    if (error instanceof RangeError) return unreadable('it is nested too deeply');
    throw error;
  }
}

function buildTooLarge(subject: string, limit: string, hint: string): DocumentProblem {
  return { code: 'document_too_large', message: `${subject} is larger than ${limit}.`, hint };
}
