import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { checkFields, checkQuestion } from '../../check-question.ts';
import { PATHS } from '../../links.ts';
import type { Site } from '../../site.ts';
import { getSchemaRef, simplifySchema } from '../components.ts';
import { buildCheckAnswers, buildCheckQuestions } from '../examples/check.ts';
import { buildFailureRefs, buildJsonRead, type Operation } from '../operation.ts';
import { buildQueryParameters } from '../parameters.ts';

const SAME_ANSWER =
  'Says whether it was seen or paid before (match), is only declared (unseen), is on record although something of danger ' +
  'speaks against the route (caution), how it differs (mismatch), that nothing is on record (unknown_route), or that the ' +
  'listing was removed (delisted), each with the time of the evidence. Pay only offers in safe_offers: there are some only ' +
  'with match. A lower price is a mismatch of severity notice.';

/** Builds the path of the comparison of a 402 with the record. */
export function buildCheckPaths(site: Site): OpenAPIV3_1.PathsObject {
  const answers = buildCheckAnswers(site);
  return {
    [PATHS.agentCheck]: {
      get: buildJsonRead({
        operationId: 'checkTerms',
        summary: 'Before paying: compare one offer of a 402 with what is on record',
        description: `Takes network, asset, pay_to and amount or price_usdc, all of them. ${SAME_ANSWER}`,
        parameters: buildQueryParameters(checkFields),
        answer: { description: 'The comparison', schema: 'AgentCheck', example: answers.match.value },
      }),
      post: buildChallengeOperation(answers),
    },
  };
}

function buildChallengeOperation(answers: ReturnType<typeof buildCheckAnswers>): Operation {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(checkQuestion, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return {
    operationId: 'checkChallenge',
    summary: 'Before paying: compare a whole challenge with what is on record',
    description: `Takes the challenge as it came, 64 KB at most. ${SAME_ANSWER}`,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: asSchema(schema), examples: buildCheckQuestions() } },
    },
    responses: {
      '200': {
        description: 'The comparison',
        content: { 'application/json': { schema: getSchemaRef('AgentCheck'), examples: answers } },
      },
      ...buildFailureRefs([
        'BadRequest',
        'MethodNotAllowed',
        'ContentTooLarge',
        'UnsupportedMediaType',
        'TooManyRequests',
        'Unavailable',
      ]),
    },
  };
}

/** A JSON Schema as openapi-types has operations carry it: in its 3.0 type, although the document is 3.1. */
function asSchema(schema: object): OpenAPIV3.SchemaObject {
  return schema;
}
