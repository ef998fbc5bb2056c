import { ROBOT_NAME } from '../model/probe.ts';
import { buildUrl, PATHS } from './links.ts';

/** Settings of the service that pages show (a part of `Config`). `baseUrl` has no trailing slash. */
export interface Site {
  readonly baseUrl: string;
  readonly serviceTitle: string;
  readonly contactName: string;
  readonly contactUrl: string;
  /** True if providers can have their API checked at `/submit`. */
  readonly hasIntake?: boolean;
}

/** Meaning of settlement-verified in one sentence, the same everywhere (specification, "What the service does" 6). */
export const VERIFIED_MEANING =
  'Settlement-verified means that this service itself paid, from its own wallet, for a real call to one specific route ' +
  'and received the product back; it covers that route only, and every other route is unverified.';

/** Description of the service in one sentence, the same everywhere. */
export const SERVICE_MEANING =
  'A free, read-only catalogue of APIs that AI agents pay for themselves, per request, in USDC over x402: listing is ' +
  "free, providers keep 100% of what a call earns, nothing is proxied, and payment happens on the provider's own HTTP 402.";

/** Licence of figures and words, the same everywhere. */
export const WORDS_MEANING =
  'The facts and figures of this catalogue are free for any use (CC0-1.0). Titles, taglines, descriptions, schemas and ' +
  'examples are the words of providers and remain theirs; each listing names its sources.';

/** Returns the user agent of our requests: our robot's name, and the page that says what it does and who runs it. */
export function getUserAgent({ baseUrl }: Pick<Site, 'baseUrl'>): string {
  return `${ROBOT_NAME} (+${buildUrl(baseUrl, PATHS.method)})`;
}
