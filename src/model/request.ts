import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isObject } from './json.ts';

export const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** `{id}` anywhere, and `:id` as a whole segment or a whole query value. */
export const PATH_TEMPLATE = /\{([^{}/?&]{1,80})\}|(?<=[/=]):([A-Za-z_]\w{0,79})(?=[/?&]|$)/g;

/** Says whether a path, or a part of it that begins with `/`, holds a template. */
export function isTemplate(path: string): boolean {
  return path.search(PATH_TEMPLATE) >= 0;
}

/** A request that the source gives as an example: query parameters, headers (never payment or secrets) and JSON body. */
export const requestExample = z.object({
  query: z.record(z.string(), z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
});
export type RequestExample = z.infer<typeof requestExample>;

/** Builds the JSON-RPC message that calls a tool (MCP, "Calling Tools"). */
export function buildToolCall(name: string, args: unknown): string {
  const params = { name, arguments: isObject(args) ? args : {} };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** The request of a paid call, without what pays and what is secret. Hash: SHA-256, hex. */
export const paidRequest = z.object({
  method: httpMethod,
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  hash: z.string().describe('SHA-256 of method, address and body, each followed by a line feed, in hexadecimal'),
});
export type PaidRequest = z.infer<typeof paidRequest>;

/** Gives the hash of a request: SHA-256 of method, address and body, each followed by a line feed, in hexadecimal. */
export function getRequestHash({ method, url, body }: Pick<PaidRequest, 'method' | 'url' | 'body'>): string {
  return createHash('sha256')
    .update(`${method}\n${url}\n${body ?? ''}\n`)
    .digest('hex');
}
