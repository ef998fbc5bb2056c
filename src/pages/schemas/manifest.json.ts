import type { APIRoute } from 'astro';
import schema from '../../../data/manifest.schema.json' with { type: 'json' };

export const prerender = false;

/**
 * Returns the JSON Schema of manifests, for editors:
 * `# yaml-language-server: $schema={base_url}/schemas/manifest.json`.
 */
export const GET: APIRoute = () =>
  new Response(JSON.stringify(schema, null, 2), { headers: { 'Content-Type': 'application/schema+json' } });
