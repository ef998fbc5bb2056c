/** A scheme and what may follow it: parameters after white space, or the next challenge (RFC 9110 section 11.6.1). */
const CHALLENGE_START = /(?:^|,)\s*([a-z][a-z0-9-]{0,31})(?=\s+[^\s=,]|\s*(?:,|$))/gi;

/** Longest header looked at, in characters; an L402 challenge with its invoice has about a thousand. */
const MAX_LENGTH = 16_384;

/**
 * Lists the schemes that a `WWW-Authenticate` header names, in lower case and once each: `l402` or `lsat` for a
 * Lightning invoice, `payment` for the Machine Payments Protocol, `bearer`, `basic`. Quoted text names nothing, and x402, whose challenge
 * stands elsewhere, is no other scheme.
 */
export function listAuthenticationSchemes(header: string | null): string[] {
  const bare = (header ?? '').slice(0, MAX_LENGTH).replace(/"[^"]*"?/g, 'q');
  const names = [...bare.matchAll(CHALLENGE_START)].map((match) => (match[1] ?? '').toLowerCase());
  return [...new Set(names)].filter((name) => name !== 'x402').slice(0, 8);
}
