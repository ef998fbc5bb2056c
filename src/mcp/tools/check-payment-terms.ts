import { z } from 'zod';
import { CHECK_SEVERITIES, CHECK_VERDICTS } from '../../evidence/terms-check.ts';
import { checkTerms } from '../../published/check.ts';
import { buildAgentCheck, type CheckBody, checkQuestion } from '../../views/check.ts';
import { formatDay } from '../../views/words/figures.ts';
import { formatReply, shortenText } from '../compact.ts';
import { buildTool } from '../tool.ts';

/** Most differences and recorded terms in an answer, and longest address that is quoted, in UTF-16 units. */
const MAX_DIFFERENCES = 8;
const MAX_RECORDED = 4;
const ADDRESS_LENGTH = 200;

/** Compares the terms of a 402 with the record, free of charge, before anything is paid. */
export const checkPaymentTermsTool = buildTool({
  title: 'Check payment terms',
  description:
    'Before paying: is what a 402 asks on record? Without it: what to expect. Pay only safe_offers; stop on danger.',
  input: checkQuestion,
  words: { url: 'As called', challenge: 'PAYMENT-REQUIRED header or JSON body; else fields of one offer' },
  output: z.object({
    revision: z.int(),
    verdict: z.enum(CHECK_VERDICTS),
    severity: z.enum(CHECK_SEVERITIES),
    reason: z.string().optional(),
    summary: z.string(),
    safe_offers: z.array(z.int()).describe('Indexes in accepts'),
    differences: z
      .array(z.object({ offer: z.int(), what: z.string(), offered: z.string(), on_record: z.string() }).partial())
      .optional(),
    on_record: z.array(z.string()),
    evidence_at: z.string().optional(),
    cautions: z.array(z.string()).optional(),
    warnings: z.array(z.string()),
    listing: z.string().optional(),
    nearest: z.array(z.string()).optional(),
    resource: z.string().optional(),
    delisted: z.string().optional(),
    missing: z.array(z.string()).optional(),
  }),
  answer: (question, { reading, snapshot }) => {
    const check = buildAgentCheck(checkTerms(reading, question), reading.site);
    const { verdict, severity, reason, summary, safe_offers, evidence_at, listing, nearest, tombstone } = check;
    const differences = check.offers.flatMap(listDifferences).slice(0, MAX_DIFFERENCES);
    const resource = check.resources?.[0];
    return {
      revision: snapshot.revision,
      verdict,
      severity,
      ...(reason && { reason }),
      summary,
      safe_offers: safe_offers.slice(0, MAX_DIFFERENCES),
      ...(differences.length > 0 && { differences }),
      on_record: check.on_record.slice(0, MAX_RECORDED).map((one) => formatRecorded(one, check.offers.length === 0)),
      ...(evidence_at && { evidence_at }),
      ...(check.cautions.length > 0 && { cautions: check.cautions.map(formatCaution) }),
      warnings: check.warnings.map(({ code }) => code),
      ...(listing && { listing }),
      ...(nearest && { nearest: nearest.map(({ method, url }) => `${method} ${shortenText(url, ADDRESS_LENGTH)}`) }),
      ...(resource && { resource: shortenText(resource, ADDRESS_LENGTH) }),
      ...(tombstone && { delisted: shortenText(tombstone.reason, ADDRESS_LENGTH) }),
      ...(check.missing && { missing: check.missing }),
    };
  },
});

/** Writes a danger in words, since it is decisive, and a notice by its code. */
function formatCaution({ code, severity, detail, since, reply }: CheckBody['cautions'][number]): string {
  if (severity === 'danger') return `danger, ${code}: ${detail}${formatReply(reply)}`;
  return since === null ? `notice, ${code}` : `notice, ${code}, ${formatDay(since)}`;
}

/** Lists the differences of an offer from the record; none for an offer that is on record. */
function listDifferences({ index, standing, reason, price_usdc, differences }: CheckBody['offers'][number]) {
  if (standing === 'on_record') return [];
  if (differences) return differences.map(({ field, ...values }) => ({ offer: index, what: field, ...values }));
  return [{ offer: index, what: reason ?? standing, ...(price_usdc && { offered: `${price_usdc} USDC` }) }];
}

/** Writes recorded terms in a line, with the payee if the caller has none to compare. */
function formatRecorded(recorded: CheckBody['on_record'][number], isPayeeShown: boolean): string {
  const { network, price_usdc, evidence, first_seen_at, pay_to, is_ceiling } = recorded;
  const since = first_seen_at === undefined ? 'undated' : `since ${formatDay(first_seen_at)}`;
  const payee = isPayeeShown && pay_to !== undefined ? ` to ${pay_to}` : '';
  return `${is_ceiling ? 'up to ' : ''}${price_usdc} USDC on ${network}${payee}, ${evidence}, ${since}`;
}
