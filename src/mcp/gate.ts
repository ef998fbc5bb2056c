import {
  localhostAllowedHostnames,
  originValidationResponse,
  readRequestBody,
  validateHostHeader,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { tryParseJson } from '../model/json.ts';
import { findJsonFaults } from '../model/json-text.ts';

/** Largest request, in bytes: the longest sensible call is a few hundred. */
const MAX_BODY_BYTES = 64 * 1024;

/** JSON-RPC codes of an unreadable message, an invalid message, invalid parameters, and a refusal below. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const REFUSED = -32000;

/** Returns the response to a request that must not reach the protocol; undefined for all others. */
export type FindRefusal = (request: Request) => Response | undefined;

/**
 * Builds the check of Host and Origin, also for preflights (MCP, "Streamable HTTP", security: DNS rebinding). Host must be that
 * of the service's base URL, as a proxy passes it on, or a loopback name, as a proxy on the same machine may set it: an attacker
 * can point neither name at this server. Origin, which only browsers send, names the page that makes the request. A public
 * service accepts every origin, since anybody can read its documents without a visitor's browser. A service on a loopback address
 * accepts only loopback origins.
 */
export function buildStrangerRefusal(baseUrl: string): FindRefusal {
  const loopback = localhostAllowedHostnames();
  const own = new URL(baseUrl).hostname;
  const hosts = [own, ...loopback];
  const isLocal = loopback.includes(own);
  return (request) => {
    const host = validateHostHeader(request.headers.get('host') ?? new URL(request.url).host, hosts);
    if (!host.ok) return buildRpcError(403, REFUSED, `${host.message}. This service is at ${baseUrl}.`);
    return isLocal ? originValidationResponse(request, hosts) : undefined;
  };
}

/**
 * Reads the JSON-RPC message of a request. Returns a refusal if it is too large, is no JSON, has a key twice, or is a batch: the
 * protocol no longer has batches, and one could cost as much as hundreds of requests.
 */
export async function readMessage(request: Request): Promise<{ message: unknown } | { refusal: Response }> {
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  if (body.tooLarge) {
    return { refusal: buildRpcError(413, REFUSED, `The request is larger than ${MAX_BODY_BYTES} bytes.`) };
  }
  const message = tryParseJson(body.text);
  if (message === undefined) return { refusal: buildRpcError(400, PARSE_ERROR, 'Parse error: the body is not JSON.') };
  if (Array.isArray(message)) {
    return { refusal: buildRpcError(400, INVALID_REQUEST, 'Batches are not answered: POST one JSON-RPC message.') };
  }
  return findDuplicateRefusal(body.text) ?? findCursorRefusal(message) ?? { message };
}

/** Refuses a message with a key twice: the challenge in it could be judged by one of the two, and paid by the other. */
function findDuplicateRefusal(text: string): { refusal: Response } | undefined {
  if (findJsonFaults(text).duplicates.length === 0) return undefined;
  const words = 'A key appears twice in one object. Do not pay a challenge like that; as text it is judged.';
  return { refusal: buildRpcError(400, INVALID_REQUEST, words) };
}

/** List methods of the protocol. Each answers with one short page, so no cursor is ever issued for it. */
const LISTS = new Set(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']);

const listRequest = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.string().refine((method) => LISTS.has(method)),
  params: z.object({ cursor: z.unknown().refine((cursor) => cursor !== undefined) }),
});

/** Refuses a cursor of a list (MCP, "Pagination": an invalid one is an error). The SDK does not check it. */
function findCursorRefusal(message: unknown): { refusal: Response } | undefined {
  const request = listRequest.safeParse(message);
  if (!request.success) return undefined;
  const words = 'This cursor is not one of this list, which comes whole: leave cursor out.';
  return { refusal: buildRpcError(200, INVALID_PARAMS, words, request.data.id) };
}

function buildRpcError(status: number, code: number, message: string, id: string | number | null = null): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status });
}
