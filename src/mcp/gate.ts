import {
  localhostAllowedHostnames,
  originValidationResponse,
  readRequestBody,
  validateHostHeader,
} from '@modelcontextprotocol/server';

/** Largest request, in bytes: the longest sensible call is a few hundred. */
const MAX_BODY_BYTES = 64 * 1024;

/** JSON-RPC codes: of a message that cannot be read, of one that may not be sent, and of a refusal below the protocol. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const REFUSED = -32000;

/** Gives the refusal of a request that may not reach the protocol, or undefined. */
export type FindRefusal = (request: Request) => Response | undefined;

/** Builds the check that stands before the protocol: POST alone, and nobody whom `buildStrangerRefusal` turns away. */
export function buildRefusal(baseUrl: string): FindRefusal {
  const refuseStranger = buildStrangerRefusal(baseUrl);
  return (request) => {
    if (request.method === 'POST') return refuseStranger(request);
    return buildRpcError(405, REFUSED, `${request.method} is not answered here: POST one JSON-RPC message.`, {
      Allow: 'POST, OPTIONS',
    });
  };
}

/**
 * Builds the check of who asks, for preflights too (MCP, "Streamable HTTP", security: DNS rebinding). Host must be that of
 * the service's base address, as a proxy passes it on, or a loopback name, as a proxy on the same machine may set it:
 * neither is a name that an attacker can point at this server. Origin, which only browsers send, says which page asks. To
 * a public service every origin is a valid one, as for all of its read-only documents: whoever wants to read them can do
 * so without a visitor's browser. A service on this machine alone is not reached from the pages of others.
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
 * Reads the one JSON-RPC message of a request; gives the refusal where it is too large, no JSON, or a batch, which the
 * protocol dropped and which would make one request cost as much as hundreds.
 */
export async function readMessage(request: Request): Promise<{ message: unknown } | { refusal: Response }> {
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  if (body.tooLarge) {
    return { refusal: buildRpcError(413, REFUSED, `The request is larger than ${MAX_BODY_BYTES} bytes.`) };
  }
  const parsed = parseJson(body.text);
  if (parsed === undefined) return { refusal: buildRpcError(400, PARSE_ERROR, 'Parse error: the body is not JSON.') };
  if (Array.isArray(parsed.message)) {
    return { refusal: buildRpcError(400, INVALID_REQUEST, 'Batches are not answered: POST one JSON-RPC message.') };
  }
  return parsed;
}

function parseJson(text: string): { message: unknown } | undefined {
  try {
    return { message: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function buildRpcError(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
