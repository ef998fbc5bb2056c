import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { catalogueSummary } from '../../model/catalogue.ts';
import { caution } from '../../model/caution.ts';
import { change } from '../../model/change.ts';
import { reliability } from '../../model/listing.ts';
import { networkEntry } from '../../model/network.ts';
import { correction } from '../../model/payment.ts';
import { agentChanges } from '../agent-changes.ts';
import { agentCheck } from '../agent-check.ts';
import { agentReceipt } from '../agent-receipt.ts';
import { discoveryFindings, discoveryResource, discoveryResources } from '../discovery-resource.ts';
import { agentCaution, agentItem } from '../listing/item.ts';
import { agentList } from '../listing/query.ts';
import { agentListing, agentRoute, agentTerms, evidenceSource, goneProblem, tombstone } from '../listing/record.ts';
import { listingTag } from '../listing/tag.ts';
import { problem } from '../problem.ts';

/** The schemas of the document, by the name they carry in it: the very ones the code answers with. */
const COMPONENTS = {
  AgentCaution: agentCaution,
  AgentChanges: agentChanges,
  AgentCheck: agentCheck,
  AgentItem: agentItem,
  AgentList: agentList,
  AgentListing: agentListing,
  AgentReceipt: agentReceipt,
  AgentRoute: agentRoute,
  AgentTerms: agentTerms,
  CatalogueSummary: catalogueSummary,
  Caution: caution,
  CatalogueDocument: z
    .object({ openapi: z.string(), 'x-catalogue': catalogueSummary, tags: z.array(listingTag) })
    .describe('What this document adds to OpenAPI: the summary, and a listing in each tag'),
  Change: change,
  Correction: correction,
  DiscoveryFindings: discoveryFindings,
  DiscoveryResource: discoveryResource,
  DiscoveryResources: discoveryResources,
  EvidenceSource: evidenceSource,
  GoneProblem: goneProblem,
  ListingTag: listingTag,
  NetworkEntry: networkEntry,
  Problem: problem,
  Reliability: reliability,
  Tombstone: tombstone,
};

/** Gives a reference to a component schema. */
export function getSchemaRef(name: keyof typeof COMPONENTS): OpenAPIV3_1.ReferenceObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Builds the component schemas from the zod schemas; shared ones are referred to, not repeated. */
export function buildSchemas(): Record<string, OpenAPIV3_1.SchemaObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'output',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [
      name,
      schema as OpenAPIV3_1.SchemaObject,
    ]),
  );
}

/** Leaves out what a format already says and what would forbid fields to come: a document is to be read. */
export function simplifySchema(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}
