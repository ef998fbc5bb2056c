import { hash } from 'node:crypto';

/** Returns a key for a row that is found by texts which may be longer than an index takes: a hash of them. */
export function getRowKey(...texts: readonly string[]): string {
  return hash('sha256', JSON.stringify(texts), 'base64url');
}
