import type { APIRoute } from 'astro';
import schema from '../../../data/agent-payable.schema.json' with { type: 'json' };

export const prerender = false;

/** The JSON Schema of what a provider states on its own host, for editors and checks: `"$schema": "{base_url}/schemas/agent-payable.json"`. */
export const GET: APIRoute = () =>
  new Response(JSON.stringify(schema, null, 2), { headers: { 'Content-Type': 'application/schema+json' } });
