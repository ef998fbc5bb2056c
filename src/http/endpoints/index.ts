import { goneProblem } from '../../views/listing/record.ts';
import { buildResponses, buildSchemas } from '../../views/openapi/components.ts';
import type { DocumentFrame } from '../../views/openapi/document.ts';
import { problem } from '../../views/problem.ts';
import type { Site } from '../../views/site.ts';
import { changesEndpoint } from './agent-changes.ts';
import { checkChallengeEndpoint, checkTermsEndpoint } from './agent-check.ts';
import { listEndpoint } from './agent-list.ts';
import { receiptEndpoint } from './agent-receipt.ts';
import { badgeEndpoint } from './badge.ts';
import type { Endpoint } from './define.ts';
import {
  discoveryBundlesEndpoint,
  discoveryMerchantEndpoint,
  discoveryResourcesEndpoint,
  discoverySearchEndpoint,
  discoverySupportedEndpoint,
} from './discovery.ts';
import { categoryFeedEndpoint, changesFeedEndpoint, listingFeedEndpoint, providerFeedEndpoint } from './feeds.ts';
import { FIXED_FILES } from './fixed-files.ts';
import { fullGuideEndpoint } from './full-guide.ts';
import { listingEndpoint } from './listing-detail.ts';
import { mcpEndpoint } from './mcp.ts';
import { defineOpenapi } from './openapi.ts';
import { guideEndpoint, listingPageEndpoint } from './pages.ts';
import { registryEntryEndpoint, registryExploreEndpoint, registrySearchEndpoint } from './registry.ts';
import { sitemapEndpoint, sitemapIndexEndpoint } from './sitemaps.ts';

/** Every endpoint, in the order of the document. */
export const ENDPOINTS: readonly Endpoint[] = [
  listEndpoint,
  changesEndpoint,
  listingEndpoint,
  receiptEndpoint,
  checkTermsEndpoint,
  checkChallengeEndpoint,
  discoveryResourcesEndpoint,
  discoverySearchEndpoint,
  discoveryMerchantEndpoint,
  discoveryBundlesEndpoint,
  discoverySupportedEndpoint,
  registrySearchEndpoint,
  registryEntryEndpoint,
  registryExploreEndpoint,
  defineOpenapi(buildFrame),
  guideEndpoint,
  listingPageEndpoint,
  mcpEndpoint,
  ...FIXED_FILES,
  sitemapIndexEndpoint,
  sitemapEndpoint,
  badgeEndpoint,
  changesFeedEndpoint,
  listingFeedEndpoint,
  providerFeedEndpoint,
  categoryFeedEndpoint,
  fullGuideEndpoint,
];

/** Builds the paths and components of the OpenAPI document: only the service's own endpoints, none of a provider. */
export function buildFrame(site: Site): DocumentFrame {
  const paths: NonNullable<DocumentFrame['paths']> = {};
  for (const { path, method, describe } of ENDPOINTS) {
    if (describe) paths[path] = { ...paths[path], [method]: describe(site) };
  }
  const answers = ENDPOINTS.flatMap(({ answer }) => answer ?? []);
  return {
    paths,
    components: { schemas: buildSchemas([...answers, problem, goneProblem]), responses: buildResponses() },
  };
}
