import { BASE_USDC_DOMAIN, NETWORKS } from '../../../model/network.ts';
import type { RecordedTerms, Terms } from '../../../model/terms.ts';
import { type AgentCheck, buildAgentCheck } from '../../agent-check.ts';
import type { Site } from '../../site.ts';
import type { TermsCheck } from '../../terms-check.ts';
import { buildCatalogueExamples, EXAMPLE_PAYEE, EXAMPLE_SEEN, EXAMPLE_SLUG } from './catalogue.ts';

const CALLED = 'https://api.prices.example/v1/price/x';

const ON_RECORD: RecordedTerms = {
  network: 'base',
  scheme: 'exact',
  asset: NETWORKS.base.usdc,
  amount: 1000,
  pay_to: EXAMPLE_PAYEE,
  max_timeout_seconds: 60,
  x402_version: 2,
  evidence: 'observed',
  source: CALLED,
  first_seen_at: EXAMPLE_SEEN,
  last_seen_at: EXAMPLE_SEEN,
  current: true,
};

const OFFER = {
  scheme: 'exact',
  network: NETWORKS.base.id,
  amount: '1000',
  asset: NETWORKS.base.usdc,
  payTo: EXAMPLE_PAYEE,
  maxTimeoutSeconds: 60,
  extra: BASE_USDC_DOMAIN,
};

const CHALLENGE = { x402Version: 2, resource: { url: CALLED }, accepts: [OFFER] };

const { amount: _amount, ...COMMON } = OFFER;
const CHALLENGE_V1 = {
  x402Version: 1,
  accepts: [{ ...COMMON, network: 'base', maxAmountRequired: '1000', resource: CALLED }],
};

/** The ways to ask, each about the invented route. */
export function buildCheckQuestions() {
  const call = { url: CALLED, method: 'GET' };
  const header = Buffer.from(JSON.stringify(CHALLENGE)).toString('base64');
  return {
    header: { summary: 'Version 2: the PAYMENT-REQUIRED header as it came', value: { ...call, challenge: header } },
    decoded: { summary: 'Version 2: the same, decoded', value: { ...call, challenge: CHALLENGE } },
    body: { summary: 'Version 1: the body of the 402', value: { ...call, challenge: CHALLENGE_V1 } },
    fields: {
      summary: 'The fields of one offer',
      value: { ...call, network: OFFER.network, asset: OFFER.asset, pay_to: OFFER.payTo, amount: OFFER.amount },
    },
  };
}

/** The answer for the invented route as it is on record, and for one that asks twice as much. */
export function buildCheckAnswers(site: Site): Record<'match' | 'mismatch', { summary: string; value: AgentCheck }> {
  return {
    match: { summary: 'As on record', value: buildAnswer(site, ON_RECORD) },
    mismatch: { summary: 'Dearer than on record', value: buildAnswer(site, { ...ON_RECORD, amount: 2000 }) },
  };
}

function buildAnswer(site: Site, terms: Terms): AgentCheck {
  const isSame = terms.amount === ON_RECORD.amount;
  const route: NonNullable<TermsCheck['route']> = {
    listing: EXAMPLE_SLUG,
    method: 'GET',
    url: 'https://api.prices.example/v1/price/{symbol}',
    verification: 'unverified',
    payee: 'fixed',
    proofs: [],
    cautions: [],
    terms: [ON_RECORD],
  };
  const check: TermsCheck = {
    asked: { method: 'GET', url: CALLED },
    verdict: isSame ? 'match' : 'mismatch',
    severity: isSame ? 'none' : 'danger',
    reason: isSame ? null : 'terms_differ',
    offers: [
      {
        index: 0,
        network: NETWORKS.base.id,
        asset: NETWORKS.base.usdc,
        offer: { terms },
        standing: isSame ? 'on_record' : 'differs',
        difference: isSame ? null : { kind: 'changed', fields: ['amount'], before: ON_RECORD, after: terms },
        is_cheaper: false,
      },
    ],
    safe_offers: isSame ? [0] : [],
    warnings: [],
    evidence_at: EXAMPLE_SEEN,
    route,
    listing: EXAMPLE_SLUG,
    nearest: [],
    tombstone: null,
    resources: [],
  };
  const { catalogue } = buildCatalogueExamples(site).list;
  const answer = { catalogue, revision: 42, ...buildAgentCheck(check, site) };
  // No document of ours links to nothing: there is no such listing.
  const details_url = `https://catalogue.invalid/agent/listings/${EXAMPLE_SLUG}`;
  return answer.route ? { ...answer, route: { ...answer.route, details_url } } : answer;
}
