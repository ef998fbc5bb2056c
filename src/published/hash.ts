import { hash } from 'node:crypto';

/** Length of a hash in letters. */
const HASH_LENGTH = 22;

/** Returns the hash of content for names, ETags and comparisons: 132 bits of SHA-256 in 22 letters of base64url. */
export function getHash(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url').slice(0, HASH_LENGTH);
}
