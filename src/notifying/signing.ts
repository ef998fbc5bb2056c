import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createFolder } from '../catalogue/folder.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { readKeyFile } from '../keys.ts';

/** Signs events with ed25519, as Standard Webhooks writes it: `v1a`. */
export interface Signer {
  /** The public key, as `whpk_…`. */
  readonly publicKey: string;
  /** Returns the header `webhook-signature` of an event; the time is in seconds since 1970. */
  sign(id: string, timestamp: number, body: string): string;
}

/** The beginning of an ed25519 key in PKCS #8 (RFC 8410, section 7), before its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const SECRET = /^whsk_([A-Za-z0-9+/]{43}=)$/;

/** Builds the signer of a secret key, written as `whsk_…`. */
function buildSigner(secret: string, file: string): Signer {
  const seed = SECRET.exec(secret)?.[1];
  if (seed === undefined) {
    throw new ServiceError('bad_input', `The file ${file} holds no key for webhooks.`, {
      hint: 'Move it away: a new key is made, and its public part is published.',
      reason: 'key_file',
    });
  }
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.from(seed, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: `whpk_${Buffer.from(x, 'base64url').toString('base64')}`,
    sign: (id, timestamp, body) =>
      `v1a,${sign(null, Buffer.from(`${id}.${timestamp}.${body}`), key).toString('base64')}`,
  };
}

/**
 * Opens the signer whose secret key is in a file, and makes a key where there is no file. Throws as `readKeyFile` does, and
 * `unavailable` if the file cannot be made.
 */
export function openSigner(file: string): { signer: Signer; isNew: boolean } {
  const isNew = makeKeyFile(file);
  return { signer: buildSigner(readKeyFile(file, 'NOTIFY_KEY_FILE'), file), isNew };
}

/** Makes the file, whole or not at all. Returns false where it is there already. */
function makeKeyFile(file: string): boolean {
  const made = `${file}.${randomBytes(6).toString('hex')}`;
  createFolder(dirname(file));
  try {
    writeFileSync(made, `whsk_${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
    linkSync(made, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw new ServiceError('unavailable', `The key file ${file} cannot be made: ${getErrorMessage(error)}.`, {
      hint: 'Set NOTIFY_KEY_FILE to a file that this process may write.',
      reason: 'key_file',
      cause: error,
    });
  } finally {
    rmSync(made, { force: true });
  }
}
