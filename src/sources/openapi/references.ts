import { isObject } from '../json-value.ts';

/** Most references in a chain. A longer chain is a circle or nonsense. */
const MAX_HOPS = 16;

/**
 * Follows a `$ref` into its own document (`#/components/…`, RFC 6901) and returns the final value. Returns the value
 * itself if it is not a reference, and undefined if the reference leads nowhere, in a circle, or out of the document:
 * nothing is ever fetched for a reference.
 */
export function followReference(document: unknown, value: unknown): unknown {
  let current = value;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const reference = getReference(current);
    if (reference === undefined) return current;
    current = findByPointer(document, reference);
  }
  return undefined;
}

/** Returns the text of a reference; undefined for anything else. */
export function getReference(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, '$ref') && typeof value.$ref === 'string' ? value.$ref : undefined;
}

function findByPointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') || reference.length > 1000) return undefined;
  let at = document;
  for (const step of reference.slice(2).split('/')) {
    const key = decodeStep(step);
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function decodeStep(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch (error) {
    // A percent sign that escapes nothing is literal.
    if (!(error instanceof URIError)) throw error;
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}
