import { readFile, stat } from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { FetchInit } from '../fetching/request.ts';
import { MAX_DOCUMENT_BYTES } from './openapi/document-text.ts';
import { getSourceName, isWebAddress } from './source-name.ts';

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
  if (!isWebAddress(pathOrAddress)) return { bytes: await readLimitedFile(pathOrAddress), url: null };
  const response = await client.fetch(pathOrAddress, { ...DOCUMENT_REQUEST, signal });
  if (response.status < 200 || response.status > 299) {
    const message = `The document ${getSourceName(pathOrAddress)} was answered with status ${response.status}.`;
    throw new ServiceError('unavailable', message, {
      reason: 'bad_status',
      hint: 'Give the address of the document itself, which is often /openapi.json or /.well-known/x402.',
      details: { status: response.status },
    });
  }
  return { bytes: response.body, url: response.url };
}

async function readLimitedFile(path: string): Promise<Uint8Array> {
  const subject = `The file ${getSourceName(path)}`;
  try {
    const stats = await stat(path);
    // A pipe would make reading wait for its writer, and a device has no end.
    if (!stats.isFile()) throw buildFileError('not_a_file', `${subject} is a folder, a pipe or a device.`);
    if (stats.size > MAX_DOCUMENT_BYTES) throw buildFileError('too_large', `${subject} is larger than 10 MB.`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw buildFileError('unreadable_file', `${subject} cannot be read.`, error);
  }
}

function buildFileError(reason: string, message: string, cause?: unknown): ServiceError {
  const hint = 'Give the path of one document, or an address that begins with https://.';
  return new ServiceError('bad_input', message, { reason, hint, cause });
}
