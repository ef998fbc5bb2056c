import { hash } from 'node:crypto';

/** Returns a hash of texts as the key of their row, since the texts may be too long for an index. */
export function getRowKey(...texts: readonly string[]): string {
  return hash('sha256', JSON.stringify(texts), 'base64url');
}
