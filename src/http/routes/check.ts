import type { Hono } from 'hono';
import { findJsonFaults } from '../../model/json-text.ts';
import { checkTerms } from '../../published/check.ts';
import type { Reading } from '../../published/reading.ts';
import { buildSummary, type Snapshot } from '../../published/snapshot.ts';
import { buildAgentCheck, type CheckQuestion, checkFields, checkQuestion } from '../../views/check.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument, type SmallDocument } from '../document.ts';
import type { Env } from '../env.ts';
import { answerPosted, limitQuestion } from '../posted.ts';
import type { Get } from './route.ts';

/**
 * Adds `/agent/check`: the terms of a 402 compared with what is on record, at one revision. GET takes the fields of one
 * offer; POST takes the challenge as it came, and its answer is never stored.
 */
export function addCheckRoutes(get: Get, app: Hono<Env>, reading: Reading): void {
  const { site, now, readAtOnce } = reading;
  const build = (question: CheckQuestion, snapshot: Snapshot, duplicateKeys?: string[]): SmallDocument => {
    const { revision } = snapshot;
    const summary = buildSummary(snapshot, site, now());
    const found = {
      catalogue: summary,
      revision,
      ...buildAgentCheck(checkTerms(reading, question, duplicateKeys), site),
    };
    return buildDocument(JSON.stringify(found), { generatedAt: summary.generated_at, revision });
  };
  get(PATHS.agentCheck, checkFields, (question, _, snapshot) => build(question, snapshot));
  app.post(PATHS.agentCheck, limitQuestion(HINTS), (c) =>
    answerPosted(c, checkQuestion, {
      hints: HINTS,
      build: (question, text) => readAtOnce((snapshot) => build(question, snapshot, listDuplicateKeys(text))),
    }),
  );
}

const CHALLENGE = /^\/challenge(?=\/|$)/;

/** Lists the keys that the challenge in a question has twice, which its parsed form no longer shows. */
function listDuplicateKeys(text: string): string[] {
  const { duplicates } = findJsonFaults(text);
  return duplicates.filter((place) => CHALLENGE.test(place)).map((place) => place.replace(CHALLENGE, ''));
}

const HINTS = {
  example: '{"url": …, "method": …, "challenge": …}; the challenge is a JSON object or the header as text',
  shorten: 'Send the challenge alone, or its fields as parameters of GET.',
};
