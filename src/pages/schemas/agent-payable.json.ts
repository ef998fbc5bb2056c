import type { APIRoute } from 'astro';
import schema from '../../../data/agent-payable.schema.json' with { type: 'json' };

export const prerender = false;

/**
 * Returns the JSON Schema of the file on a provider's own host, for editors and checks:
 * `"$schema": "{base_url}/schemas/agent-payable.json"`.
 */
export const GET: APIRoute = () =>
  new Response(JSON.stringify(schema, null, 2), { headers: { 'Content-Type': 'application/schema+json' } });
