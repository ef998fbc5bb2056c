import { z } from 'zod';
import {
  CHECK_SEVERITIES,
  CHECK_VERDICTS,
  CHECK_WARNINGS,
  findPayment,
  getEvidenceKind,
  type JudgedOffer,
  OFFER_STANDINGS,
} from '../evidence/terms-check.ts';
import { catalogueSummary } from '../model/catalogue.ts';
import { caution } from '../model/caution.ts';
import { NETWORKS, networkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { routeVerification } from '../model/route.ts';
import { type RecordedTerms, type Terms, termsField } from '../model/terms.ts';
import { cutText } from '../model/text.ts';
import { formatUsdc } from '../model/usdc.ts';
import { describeCheck, describeWarning } from './check-words.ts';
import { buildUrl, PATHS } from './links.ts';
import { tombstone } from './listing/record.ts';
import type { Site } from './site.ts';
import type { CheckedRoute, TermsCheck } from './terms-check.ts';
import { describeCaution } from './words/caution.ts';

/** Offers and terms on record that an answer shows; a challenge has one to eight. */
const MAX_SHOWN = 20;
const MAX_ADDRESS = 300;

const shownTerms = z.object({
  network: z.string().describe('base or solana; of an offer that cannot be paid what the challenge says, cut'),
  network_id: z.string().optional().describe('CAIP-2 identifier'),
  scheme: z.string().optional(),
  asset: z.string().optional(),
  amount: z.string().optional().describe('Atomic USDC'),
  price_usdc: z.string().optional().describe('The same as a decimal amount'),
  pay_to: z.string().optional().describe('Absent where it is not known, or rotates'),
});

const fieldDifference = z.object({ field: termsField, offered: z.string(), on_record: z.string() });

const checkedOffer = shownTerms.partial().extend({
  index: z.int().nonnegative().describe('Its place in accepts'),
  standing: z.enum(OFFER_STANDINGS).describe('on_record: what is on record; safe_offers says which of these are safe'),
  reason: z.string().optional().describe('Why an offer cannot be paid'),
  differences: z.array(fieldDifference).optional().describe('Against the terms on record most like it'),
});

const termsOnRecord = shownTerms.extend({
  network: networkKey,
  evidence: z.enum(['declared', 'observed', 'paid']).describe('Claimed; seen in a 402; paid by this service'),
  first_seen_at: z.iso.datetime().optional(),
  last_seen_at: z.iso.datetime().optional(),
  paid_at: z.iso.datetime().optional(),
});

const nearRoute = z.object({ listing: z.string(), method: z.string(), url: z.string() });

/** The answer of `/agent/check`. */
export const agentCheck = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision that this answer is of'),
    asked: z.object({ method: httpMethod, url: z.string() }).describe('The call, as it was asked about'),
    verdict: z
      .enum(CHECK_VERDICTS)
      .describe(
        'match: as seen or paid before. unseen: as declared, never seen. caution: as on record, but do not pay',
      ),
    severity: z
      .enum(CHECK_SEVERITIES)
      .describe('none: as on record, and seen. notice: worth knowing first. danger: do not pay'),
    reason: z.string().optional().describe('Stable code for anything but a match'),
    summary: z.string().describe('The same in a sentence'),
    safe_offers: z
      .array(z.int().nonnegative())
      .describe('Places in accepts of the offers that are safe to take; none unless the verdict is match'),
    offers: z.array(checkedOffer).describe("The challenge's offers, at most 20"),
    cautions: z
      .array(caution.extend({ detail: z.string() }))
      .describe('What speaks against the route or its listing, the gravest first: pay nothing where one is of danger'),
    warnings: z.array(z.object({ code: z.enum(CHECK_WARNINGS), detail: z.string() })),
    evidence_at: z.iso.datetime().optional().describe('Time of the latest evidence; absent where it has none'),
    route: nearRoute
      .extend({
        verification: routeVerification,
        payee: z.enum(['fixed', 'rotating']).optional(),
        details_url: z.url(),
      })
      .optional()
      .describe('The route on record'),
    on_record: z.array(termsOnRecord).describe('What is on record of it'),
    listing: z.string().optional().describe('Slug of the listing that the address belongs to'),
    nearest: z.array(nearRoute).optional().describe('Routes of the same host that may have been meant'),
    tombstone: tombstone.optional(),
    resources: z.array(z.string()).optional().describe('What the challenge says it is for, if not for what was called'),
  })
  .meta({ id: 'AgentCheck' });
export type AgentCheck = z.infer<typeof agentCheck>;

/** What a comparison came to, without what every document of a revision says. */
export type CheckBody = Omit<AgentCheck, 'catalogue' | 'revision'>;

/** Builds the answer from what a comparison came to. */
export function buildAgentCheck(check: TermsCheck, { baseUrl }: Site): CheckBody {
  const { asked, verdict, severity, reason, evidence_at, route, listing, nearest, resources } = check;
  return {
    asked: { method: httpMethod.parse(asked.method), url: asked.url },
    verdict,
    severity,
    ...(reason !== null && { reason }),
    summary: describeCheck(check),
    safe_offers: check.safe_offers,
    offers: check.offers.slice(0, MAX_SHOWN).map(buildOffer),
    cautions: (route?.cautions ?? []).map((one) => ({ ...one, detail: describeCaution(one) })),
    warnings: check.warnings.map((code) => ({ code, detail: describeWarning(code) })),
    ...(evidence_at !== null && { evidence_at }),
    ...(route && {
      route: {
        ...buildNear(route),
        verification: route.verification,
        ...(route.payee !== null && { payee: route.payee }),
        details_url: buildUrl(baseUrl, PATHS.agentListing(route.listing)),
      },
    }),
    on_record: route ? route.terms.slice(0, MAX_SHOWN).map((terms) => buildRecorded(terms, route)) : [],
    ...(listing !== null && { listing }),
    ...(nearest.length > 0 && { nearest: nearest.map(buildNear) }),
    ...(check.tombstone && { tombstone: check.tombstone }),
    ...(resources.length > 0 && { resources: resources.slice(0, 3).map((text) => cutText(text, MAX_ADDRESS)) }),
  };
}

function buildOffer({ index, standing, offer, difference, network, asset }: JudgedOffer): CheckBody['offers'][number] {
  if ('reason' in offer) {
    return {
      index,
      standing,
      reason: offer.reason,
      ...(network !== null && { network }),
      ...(asset !== null && { asset }),
    };
  }
  const { before, after, fields = [] } = difference ?? {};
  return {
    index,
    standing,
    ...buildTerms(offer.terms),
    ...(before &&
      after && {
        differences: fields.map((field) => ({
          field,
          offered: String(after[field] ?? ''),
          on_record: String(before[field] ?? ''),
        })),
      }),
  };
}

function buildTerms({ network, scheme, asset, amount, pay_to }: Terms) {
  return {
    network,
    network_id: NETWORKS[network].id,
    scheme,
    asset,
    amount: String(amount),
    price_usdc: formatUsdc(amount),
    ...(pay_to !== null && { pay_to }),
  };
}

function buildRecorded(terms: RecordedTerms, route: CheckedRoute): CheckBody['on_record'][number] {
  const { first_seen_at, last_seen_at } = terms;
  const paid = findPayment(terms, route.proofs);
  return {
    ...buildTerms(terms),
    evidence: getEvidenceKind(terms, route),
    ...(first_seen_at !== null && { first_seen_at }),
    ...(last_seen_at !== null && { last_seen_at }),
    ...(paid && { paid_at: paid.verified_at }),
  };
}

function buildNear({ listing, method, url }: CheckedRoute): z.infer<typeof nearRoute> {
  return { listing, method, url };
}
