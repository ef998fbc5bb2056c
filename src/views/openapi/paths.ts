import type { OpenAPIV3_1 } from 'openapi-types';
import type { Site } from '../site.ts';
import { buildAgentPaths } from './paths/agent.ts';
import { buildCheckPaths } from './paths/check.ts';
import { buildDiscoveryPaths } from './paths/discovery.ts';
import { buildFilePaths } from './paths/files.ts';
import { buildServicePaths } from './paths/service.ts';

/** Builds the paths of the document: the service's own endpoints and nothing of any provider's. */
export function buildPaths(site: Site): OpenAPIV3_1.PathsObject {
  return {
    ...buildAgentPaths(site),
    ...buildCheckPaths(site),
    ...buildDiscoveryPaths(),
    ...buildServicePaths(),
    ...buildFilePaths(site),
  };
}
