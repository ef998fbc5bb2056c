import { isObject } from '../json-value.ts';
import type { DocumentReader } from './document-reader.ts';
import { followReference } from './references.ts';

/** One media type of a body, with its Media Type Object. */
export interface Content {
  mime_type: string;
  media: Record<string, unknown>;
}

/** Finds the media type of a body that an agent would use: JSON if there is any, else the first. */
export function findContent({ document, listMembers }: DocumentReader, content: unknown): Content | undefined {
  const types = listMembers(content);
  const [mime_type, raw] = types.find(([name]) => isJsonType(name)) ?? types[0] ?? [];
  const media = followReference(document, raw);
  return mime_type !== undefined && isObject(media) ? { mime_type, media } : undefined;
}

/** Returns whether a media type is JSON: `application/json`, `application/problem+json; charset=utf-8`. */
export function isJsonType(name: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(name);
}
