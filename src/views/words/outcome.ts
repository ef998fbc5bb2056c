import { nameNetworks } from '../../model/network.ts';
import { isConclusive, isPayable, type ProbeOutcome } from '../../model/probe.ts';

/** An outcome of a probe in words. */
export interface OutcomeWords {
  /** A few words, for a table. */
  readonly phrase: string;
  /** Its meaning for providers and buyers, in a sentence or two. */
  readonly meaning: string;
}

/** Every outcome in words: the only table, for pages and commands. */
export const OUTCOME_WORDS: Readonly<Record<ProbeOutcome, OutcomeWords>> = {
  payable: {
    phrase: 'valid 402',
    meaning: `The route answers 402 with x402 requirements that can be met in USDC on ${nameNetworks()}, as on record.`,
  },
  payable_with_changed_terms: {
    phrase: 'valid 402, other terms',
    meaning:
      'The route can be paid, but price, payee, network or scheme are others than were on record. From then on the catalogue shows what was seen.',
  },
  no_402: {
    phrase: 'no 402',
    meaning:
      'An answer came that is neither 402 nor any of the others here: the route is not there, redirects elsewhere, or answers without being paid.',
  },
  wrong_method: {
    phrase: 'other method (405)',
    meaning: 'The route does not take the method that its listing names.',
  },
  input_rejected: {
    phrase: 'input checked first',
    meaning:
      'The route looks at the input before it asks to be paid, and did not like ours. A request that works, given as an example in the listing, helps.',
  },
  auth_required: {
    phrase: 'asks for a login',
    meaning: 'The route wants a key, a login or another way to pay than x402, which no buyer here has.',
  },
  rate_limited: {
    phrase: 'asked too often (429)',
    meaning: 'The host wants fewer requests. It is left alone for as long as it says, or else for a while.',
  },
  server_error: {
    phrase: 'server error',
    meaning: 'The answer is a 5xx, or the connection broke off before it ended.',
  },
  malformed: {
    phrase: 'malformed 402',
    meaning:
      'A 402 came, but its payment requirements cannot be read as x402 version 1 or 2, or cannot be met as they stand.',
  },
  unsupported_network: {
    phrase: 'other network',
    meaning: `The route can be paid on other networks only, not on ${nameNetworks()}.`,
  },
  not_usdc: { phrase: 'other token', meaning: 'The route asks for another token than USDC.' },
  wildcard_402: {
    phrase: '402 to anything',
    meaning: 'A made-up address beside the route asks the same price, so a 402 there says nothing of a product.',
  },
  name_not_resolved: { phrase: 'host not found', meaning: 'The name of the host leads nowhere.' },
  refused: { phrase: 'connection refused', meaning: 'Nobody takes connections at that address.' },
  tls: {
    phrase: 'no secure connection',
    meaning: 'TLS fails: a certificate that is expired, or is not for this host.',
  },
  timeout: { phrase: 'no answer in time', meaning: 'The answer did not come, or did not end, in time.' },
  too_large: { phrase: 'answer too large', meaning: 'The answer goes on beyond any size that a 402 needs.' },
  blocked_address: {
    phrase: 'address never called',
    meaning: 'The address is one that this service never calls, such as one in a private network.',
  },
  internal: {
    phrase: 'not asked',
    meaning: 'We could not ask, or were asked not to by robots.txt. That says nothing of the route.',
  },
};

/** Weight of an outcome: a valid answer, a failure, or neither. */
export type OutcomeWeight = 'valid' | 'failed' | 'inconclusive';

/** Returns the weight of an outcome in score and delisting. */
export function getOutcomeWeight(outcome: ProbeOutcome): OutcomeWeight {
  if (isPayable(outcome)) return 'valid';
  return isConclusive(outcome) ? 'failed' : 'inconclusive';
}

/** Writes the outcome of a probe in a few words, with its cause where known: `no 402: not found (404)`. */
export function formatOutcome(outcome: ProbeOutcome, cause: string | null): string {
  const { phrase } = OUTCOME_WORDS[outcome];
  const words = cause === null ? null : findCauseWords(cause);
  return words === null ? phrase : `${phrase}: ${words}`;
}

/** Words for the causes of outcomes whose code does not say enough. */
const CAUSE_WORDS: Readonly<Record<string, string>> = {
  reads_differently: 'can be read in two ways',
  // A valid 402 with other terms.
  amount: 'price changed',
  pay_to: 'payee changed',
  network: 'network changed',
  scheme: 'scheme changed',
  asset: 'token changed',
  several_fields: 'several changed',
  offer_removed: 'an offer is gone',
  // An answer that is no 402.
  answered_unpaid: 'answers unpaid',
  not_found: 'not found (404)',
  gone: 'gone (410)',
  redirected: 'redirects elsewhere',
  redirected_elsewhere: 'redirects elsewhere',
  redirect_changes_method: 'redirects to another method',
  bad_redirect: 'redirects nowhere',
  too_many_redirects: 'redirects without end',
  made_up_parameter: 'no example to ask with',
  other_payment_scheme: 'payment, but not x402',
  disconnected: 'connection broke off',
  no_such_tool: 'no such tool',
  tool_refused: 'the tool refuses the call',
  // A 402 that cannot be read.
  no_mcp_answer: 'no answer of an MCP server',
  html_page: 'a web page',
  not_json: 'no JSON in it',
  no_challenge: 'no requirements in it',
  no_accepts: 'no offers in it',
  no_amount: 'an offer without a price',
  no_asset: 'an offer without a token',
  no_network: 'an offer without a network',
  no_version: 'no x402 version in it',
  bad_version: 'an unknown x402 version',
  bad_amount: 'a price that is no number',
  zero_amount: 'a price of zero',
  bad_pay_to: 'a payee that is no address',
  bad_scheme: 'an unknown scheme',
  bad_timeout: 'an offer without a time-out',
  not_conforming: 'clients refuse it',
  header_too_large: 'its header is above 16 KB',
  bad_http: 'not HTTP',
  test_network: 'a test network',
  header_unreadable: 'its header cannot be read',
  // The route was not asked.
  robots_disallowed: 'robots.txt asks us not to',
  held_up: 'we were too busy to listen',
  not_https: 'address is not https',
  bad_url: 'not an address',
  // The system's own error names.
  econnrefused: '',
  enotfound: '',
  eai_again: 'no answer about its name',
  cert_has_expired: 'certificate expired',
  err_tls_cert_altname_invalid: 'certificate of another host',
  depth_zero_self_signed_cert: 'certificate signed by itself',
  self_signed_cert_in_chain: 'certificate signed by itself',
  unable_to_verify_leaf_signature: 'certificate chain incomplete',
};

/** Finds the words for the cause of an outcome; null if it adds nothing. A cause without words is spelled out. */
function findCauseWords(cause: string): string | null {
  const status = /^status_(\d{3})$/.exec(cause)?.[1];
  if (status !== undefined) return status;
  return (CAUSE_WORDS[cause] ?? cause.replaceAll('_', ' ')) || null;
}

/** Advice to a provider about an outcome, and the part of the answer that shows the cause. */
interface Advice {
  readonly fix: string;
  readonly place: string;
}

/** Advice by cause or by outcome; that for the cause comes first. */
const ADVICE: Readonly<Record<string, Advice>> = {
  not_found: { fix: 'Serve the route at this address, or correct the address in the document.', place: 'status' },
  redirected_elsewhere: {
    fix: 'Answer at this address, or list the address it redirects to.',
    place: 'header Location',
  },
  redirect_changes_method: { fix: 'Redirect with 307 or 308, which keep the method.', place: 'status' },
  too_many_redirects: { fix: 'Answer at the address itself.', place: 'header Location' },
  made_up_parameter: { fix: 'Give an example value for each parameter in the path.', place: 'path' },
  other_payment_scheme: { fix: 'Offer x402 beside the other way to pay.', place: 'header WWW-Authenticate' },
  robots_disallowed: { fix: 'Allow the path in robots.txt, if it is to be checked.', place: '/robots.txt' },
  no_402: { fix: 'Answer 402 with the payment requirements to a request without payment.', place: 'status' },
  wrong_method: { fix: 'Name the method that the route takes in the document.', place: 'header Allow' },
  input_rejected: {
    fix: 'Ask for payment before the input is checked, or give an example request that passes the check.',
    place: 'status',
  },
  auth_required: { fix: 'Answer 402 to a request without key or login.', place: 'status' },
  rate_limited: { fix: 'Allow more requests without payment, or check again later.', place: 'status' },
  server_error: { fix: 'Correct what fails before the request for payment is answered.', place: 'status' },
  name_not_resolved: { fix: 'Correct the name, or add its record to the DNS.', place: 'host' },
  refused: { fix: 'Let the server listen at this host and port.', place: 'connection' },
  tls: { fix: 'Install a valid certificate for this host.', place: 'certificate' },
  timeout: { fix: 'Answer a request without payment within ten seconds.', place: 'answer' },
  too_large: { fix: 'Send the payment requirements alone.', place: 'answer' },
  blocked_address: { fix: 'Give the public address at which buyers reach the route.', place: 'host' },
};

/** Finds the advice for an outcome. Undefined if the findings of the 402 say more, or the outcome is not the provider's fault. */
export function findAdvice({ outcome, cause }: { outcome: ProbeOutcome; cause: string | null }): Advice | undefined {
  return ADVICE[cause ?? ''] ?? ADVICE[outcome];
}
