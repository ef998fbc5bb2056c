import { isUtf8 } from 'node:buffer';
import { isObject } from '../model/json.ts';
import { findJsonFaults } from '../model/json-text.ts';
import type { ChallengeProblem } from './challenge.ts';

/**
 * Longest header value and body that are read for a challenge, in bytes. Real challenges with schemas are longer than
 * 16 KB and far shorter than this.
 */
const MAX_HEADER_BYTES = 96 * 1024;
export const MAX_CHALLENGE_BYTES = 256 * 1024;

/**
 * Deepest nesting of a challenge's JSON. Deeper JSON, which none needs, would overflow the stack of the code that walks
 * it later.
 */
const MAX_DEPTH = 64;

/** Base 64 with or without padding: the SDK's clients read and pay both. */
const BASE64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** A JSON object with its duplicate keys as JSON pointers, or the reason why it cannot be read. */
export type ObjectOrProblem =
  | { object: Record<string, unknown>; duplicateKeys: readonly string[] }
  | { problem: ChallengeProblem };

/** Parses the header of version 2: a JSON object in base 64 (RFC 4648 section 4). Never throws. */
export function parseChallengeHeader(value: string): ObjectOrProblem {
  if (value.length > MAX_HEADER_BYTES) return { problem: 'header_too_large' };
  const text = value.trim();
  if (!BASE64.test(text)) return { problem: 'bad_base64' };
  return parseObject(Buffer.from(text, 'base64'));
}

/** Parses a decoded body, which must be a JSON object. Never throws. */
export function parseChallengeBody(body: Uint8Array): ObjectOrProblem {
  return body.byteLength > MAX_CHALLENGE_BYTES ? { problem: 'body_too_large' } : parseObject(body);
}

function parseObject(bytes: Uint8Array): ObjectOrProblem {
  if (!isUtf8(bytes)) return { problem: 'not_utf8' };
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === '') return { problem: 'no_challenge' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: text.trimStart().startsWith('<') ? 'html_page' : 'not_json' };
  }
  const checked = checkChallengeObject(value);
  return 'problem' in checked ? checked : { ...checked, duplicateKeys: findJsonFaults(text).duplicates };
}

/** Checks that a value parsed elsewhere is a JSON object that is not too deep. Never throws. */
export function checkChallengeObject(value: unknown): ObjectOrProblem {
  if (!isObject(value)) return { problem: 'not_an_object' };
  return isDeeper(value, MAX_DEPTH) ? { problem: 'too_deep' } : { object: value, duplicateKeys: [] };
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}
