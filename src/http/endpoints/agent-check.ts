import { findJsonFaults } from '../../model/json-text.ts';
import { NETWORKS } from '../../model/network.ts';
import type { Terms } from '../../model/terms.ts';
import { checkTerms } from '../../published/check.ts';
import {
  type AgentCheck,
  agentCheck,
  buildAgentCheck,
  type CheckQuestion,
  checkFields,
  checkQuestion,
  type TermsCheck,
} from '../../views/check.ts';
import { PATHS } from '../../views/links.ts';
import type { PublicTerms } from '../../views/listing/route-record.ts';
import {
  buildSummaryExample,
  EXAMPLE_PAYEE,
  EXAMPLE_SEEN,
  EXAMPLE_SLUG,
  NOWHERE,
} from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import { buildSummed } from '../document.ts';
import { type AtRevision, defineQuestion, defineRead } from './define.ts';

const SAME_ANSWER =
  'Says whether it was seen or paid before (match), is only declared (unseen), is on record although something of danger ' +
  'speaks against the route (caution), how it differs (mismatch), that nothing is on record (unknown_route), or that the ' +
  'listing was removed (delisted), each with the time of the evidence. Pay only offers in safe_offers: there are some only ' +
  'with match. A lower price is a mismatch of severity notice. Without terms it says what to expect (expected).';

/** Compares the fields of one offer of a 402 with the record at one revision. */
export const checkTermsEndpoint = defineRead({
  id: 'checkTerms',
  path: PATHS.agentCheck,
  summary: 'Before paying: compare one offer of a 402 with what is on record',
  description: `Takes network, asset, pay_to and amount or price_usdc, all of them or none. ${SAME_ANSWER}`,
  query: checkFields,
  examples: {
    url: 'https://api.prices.example/v1/price/x',
    method: 'GET',
    network: 'base',
    asset: NETWORKS.base.usdc,
    pay_to: EXAMPLE_PAYEE,
    amount: '1000',
    price_usdc: '0.001',
    scheme: 'exact',
    can: 'v2,evm,exact,eip3009',
  },
  answer: {
    description: 'The comparison',
    schema: agentCheck,
    example: (site) => buildAnswerExamples(site).match.value,
  },
  build: (question, from) => buildCheck(question, from),
});

/** Compares a whole challenge with the record. */
export const checkChallengeEndpoint = defineQuestion({
  id: 'checkChallenge',
  path: PATHS.agentCheck,
  summary: 'Before paying: compare a whole challenge with what is on record',
  description: `Takes the challenge as it came, 64 KB at most. ${SAME_ANSWER}`,
  body: { schema: checkQuestion, examples: buildQuestionExamples },
  hints: {
    example: '{"url": …, "method": …, "challenge": …}; the challenge is a JSON object or the header as text',
    shorten: 'Send the challenge alone, or its fields as parameters of GET.',
  },
  answer: { description: 'The comparison', schema: agentCheck, examples: buildAnswerExamples },
  build: (question, from) => buildCheck(question, from, listDuplicateKeys(from.text)),
});

function buildCheck(question: CheckQuestion, { reading, snapshot }: AtRevision, duplicateKeys?: string[]) {
  const check = buildAgentCheck(checkTerms(reading, question, duplicateKeys), reading.site);
  return buildSummed(reading, snapshot, { rest: JSON.stringify(check).slice(1) });
}

const CHALLENGE = /^\/challenge(?=\/|$)/;

/** Lists the keys that the text of a challenge has twice. Parsing drops one of each. */
function listDuplicateKeys(text: string): string[] {
  const { duplicates } = findJsonFaults(text);
  return duplicates.filter((place) => CHALLENGE.test(place)).map((place) => place.replace(CHALLENGE, ''));
}

const CALLED = 'https://api.prices.example/v1/price/x';

const ON_RECORD: PublicTerms = {
  network: 'base',
  network_id: NETWORKS.base.id,
  scheme: 'exact',
  asset: NETWORKS.base.usdc,
  amount: 1000,
  amount_usdc: '0.001',
  pay_to: EXAMPLE_PAYEE,
  max_timeout_seconds: 60,
  x402_version: 2,
  evidence: 'observed',
  source: CALLED,
  first_seen_at: EXAMPLE_SEEN,
  last_seen_at: EXAMPLE_SEEN,
  current: true,
  needs: ['v2', 'evm', 'exact', 'eip3009'],
};

const OFFER = {
  scheme: 'exact',
  network: NETWORKS.base.id,
  amount: '1000',
  asset: NETWORKS.base.usdc,
  payTo: EXAMPLE_PAYEE,
  maxTimeoutSeconds: 60,
  extra: NETWORKS.base.domain,
};

const CHALLENGE_V2 = { x402Version: 2, resource: { url: CALLED }, accepts: [OFFER] };

const { amount: _amount, ...UNPRICED } = OFFER;
const CHALLENGE_V1 = {
  x402Version: 1,
  accepts: [{ ...UNPRICED, network: 'base', maxAmountRequired: '1000', resource: CALLED }],
};

/** Builds an example of each way to ask, all about the invented route. */
function buildQuestionExamples() {
  const call = { url: CALLED, method: 'GET' };
  const header = Buffer.from(JSON.stringify(CHALLENGE_V2)).toString('base64');
  return {
    header: { summary: 'Version 2: the PAYMENT-REQUIRED header as it came', value: { ...call, challenge: header } },
    decoded: { summary: 'Version 2: the same, decoded', value: { ...call, challenge: CHALLENGE_V2 } },
    body: { summary: 'Version 1: the body of the 402', value: { ...call, challenge: CHALLENGE_V1 } },
    fields: {
      summary: 'The fields of one offer',
      value: { ...call, network: OFFER.network, asset: OFFER.asset, pay_to: OFFER.payTo, amount: OFFER.amount },
    },
  };
}

/** Builds two example answers for the invented route: a match, and an offer that asks twice as much. */
function buildAnswerExamples(site: Site): Record<'match' | 'mismatch', { summary: string; value: AgentCheck }> {
  return {
    match: { summary: 'As on record', value: buildAnswerExample(site, ON_RECORD) },
    mismatch: { summary: 'Dearer than on record', value: buildAnswerExample(site, { ...ON_RECORD, amount: 2000 }) },
  };
}

function buildAnswerExample(site: Site, terms: Terms): AgentCheck {
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
    places: [],
    can: undefined,
  };
  const answer = { catalogue: buildSummaryExample(site), revision: 42, ...buildAgentCheck(check, site) };
  const details_url = `${NOWHERE}${PATHS.agentListing(EXAMPLE_SLUG)}`;
  return answer.route ? { ...answer, route: { ...answer.route, details_url } } : answer;
}
