import { z } from 'zod';

/**
 * Why an answer with status 2xx to a paid call is not recognised as the product: the sentence says what was seen. The
 * first that applies counts.
 */
export const UNRECOGNISED = {
  empty: 'the answer holds nothing: an empty object, list or text',
  asks_again: 'the answer asks to be paid again',
  error_in_body: 'the answer says by its own words that it is an error',
  html_page: 'the answer is a web page, which the provider does not declare',
  not_json: 'the answer says that it is JSON, and is not',
  other_media_type: 'the answer has another media type than the provider declares',
  schema_contradicted: "the answer contradicts the provider's own schema",
} as const;

export type UnrecognisedReason = keyof typeof UNRECOGNISED;
export const unrecognisedReason = z.enum(Object.keys(UNRECOGNISED) as [UnrecognisedReason, ...UnrecognisedReason[]]);
