import type { JsonObject } from '../../model/json.ts';
import { findJsonFaults } from '../../model/json-text.ts';
import { NETWORKS } from '../../model/network.ts';
import { checkTerms, compareTerms } from '../../published/check.ts';
import { buildKnownRoute } from '../../published/known-listings.ts';
import type { AtRevision } from '../../published/reading.ts';
import {
  type AgentCheck,
  agentCheck,
  buildAgentCheck,
  type CheckQuestion,
  checkFields,
  checkQuestion,
} from '../../views/check.ts';
import { PATHS } from '../../views/links.ts';
import {
  buildListingExample,
  buildSummaryExample,
  EXAMPLE_PAYEE,
  EXAMPLE_SEEN,
  NOWHERE,
} from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import { buildSummed } from '../document.ts';
import { defineQuestion, defineRead } from './define.ts';

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

/** Builds two example answers about the invented route, as if its 402 had been seen: a match, and an offer of twice the price. */
function buildAnswerExamples(site: Site): Record<'match' | 'mismatch', { summary: string; value: AgentCheck }> {
  const dearer = { ...CHALLENGE_V2, accepts: [{ ...OFFER, amount: '2000' }] };
  return {
    match: { summary: 'As on record', value: buildAnswerExample(site, CHALLENGE_V2) },
    mismatch: { summary: 'Dearer than on record', value: buildAnswerExample(site, dearer) },
  };
}

function buildAnswerExample(site: Site, challenge: JsonObject): AgentCheck {
  const listing = buildListingExample();
  const [route] = listing.routes.map((declared) => {
    const terms = declared.terms.map((offer) => ({ ...offer, evidence: 'observed' as const, source: CALLED }));
    return buildKnownRoute({ ...declared, payee: 'fixed', cautions: [], terms }, listing);
  });
  if (!route) throw new Error('the invented listing has a route');
  const question = checkQuestion.parse({ url: CALLED, method: 'GET', challenge });
  const check = compareTerms(question, () => ({ kind: 'route', route }), { at: new Date(EXAMPLE_SEEN) });
  const answer = buildAgentCheck(check, { ...site, baseUrl: NOWHERE });
  return { catalogue: buildSummaryExample(site), revision: 42, ...answer };
}
