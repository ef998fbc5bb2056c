/** Causes of outcomes in words, where the word itself does not say it. */
const CAUSE_WORDS: Readonly<Record<string, string>> = {
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
  // A 402 that cannot be read.
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
  bad_http: 'not HTTP',
  test_network: 'a test network',
  header_unreadable: 'its header cannot be read',
  // Not asked.
  robots_disallowed: 'robots.txt asks us not to',
  held_up: 'we were too busy to listen',
  not_https: 'address is not https',
  bad_url: 'not an address',
  // The system's own words.
  econnrefused: '',
  enotfound: '',
  eai_again: 'no answer about its name',
  cert_has_expired: 'certificate expired',
  err_tls_cert_altname_invalid: 'certificate of another host',
  depth_zero_self_signed_cert: 'certificate signed by itself',
  self_signed_cert_in_chain: 'certificate signed by itself',
  unable_to_verify_leaf_signature: 'certificate chain incomplete',
};

/** Finds words for the cause of an outcome; null where it adds nothing. One without words of its own is spelled out. */
export function findCauseWords(cause: string): string | null {
  const status = /^status_(\d{3})$/.exec(cause)?.[1];
  if (status !== undefined) return status;
  return (CAUSE_WORDS[cause] ?? cause.replaceAll('_', ' ')) || null;
}
