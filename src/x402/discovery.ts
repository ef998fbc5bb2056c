import { isObject, type JsonObject } from '../model/json.ts';
import type { Challenge } from './challenge.ts';

/** Largest description of a request or an answer that is kept, in bytes of JSON. */
const MAX_BYTES = 16 * 1024;
const MAX_ADDRESS = 2048;

/**
 * Reads the description of the route in a challenge: its address, its request and its answer. Version 2 has them in
 * `resource` and in the extension `bazaar`, version 1 in `resource` and `outputSchema` of each offer. The caller has
 * already bounded the depth; anything of another shape is left out.
 */
export function readDiscovery(
  raw: Record<string, unknown>,
  version: 1 | 2,
): Pick<Challenge, 'resource' | 'input' | 'output'> {
  const source = version === 2 ? raw : findFirstObject(raw.accepts);
  const resource = isObject(source?.resource) ? source.resource.url : source?.resource;
  const bazaar = isObject(raw.extensions) && isObject(raw.extensions.bazaar) ? raw.extensions.bazaar.info : undefined;
  const described = version === 2 ? bazaar : source?.outputSchema;
  const sides = isObject(described) ? described : {};
  return {
    resource: typeof resource === 'string' && resource.length <= MAX_ADDRESS ? resource : null,
    input: omitIfLarge(sides.input),
    output: omitIfLarge(sides.output),
  };
}

function findFirstObject(list: unknown): Record<string, unknown> | undefined {
  return Array.isArray(list) ? list.find(isObject) : undefined;
}

function omitIfLarge(value: unknown): JsonObject | null {
  return isObject(value) && Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES ? value : null;
}
