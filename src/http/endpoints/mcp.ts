import type { Hono } from 'hono';
import type { createMcp } from '../../mcp/server.ts';
import { listPaths, PATHS } from '../../views/links.ts';
import { buildFailureRefs } from '../../views/openapi/components.ts';
import { type Env, findRequestId } from '../request.ts';
import type { Endpoint, Operation } from './define.ts';

/** Loads the code of the MCP server on first use, or when the server is idle, since that takes as long as all the rest. */
export async function loadMcp() {
  const [{ createMcp }, { buildStrangerRefusal }] = await Promise.all([
    import('../../mcp/server.ts'),
    import('../../mcp/gate.ts'),
  ]);
  return { createMcp, buildStrangerRefusal };
}

/** The MCP server. `addMcpRoute` adds its route. */
export const mcpEndpoint: Endpoint = {
  path: PATHS.mcp,
  method: 'post',
  allow: ['POST', 'OPTIONS'],
  describe: describeMcp,
};

/** Adds the route of the MCP server. */
export function addMcpRoute(app: Hono<Env>, options: Omit<Parameters<typeof createMcp>[0], 'findRequestId'>): void {
  let serve: ReturnType<typeof createMcp> | undefined;
  app.on('POST', listPaths(PATHS.mcp), async (c) => {
    const { createMcp } = await loadMcp();
    serve ??= createMcp({ ...options, findRequestId });
    return serve(c.req.raw);
  });
}

function describeMcp(): Operation {
  const message = { type: 'object' as const, description: 'A JSON-RPC 2.0 message' };
  const refusal = (description: string) => ({ description, content: { 'application/json': { schema: message } } });
  return {
    operationId: 'callMcp',
    summary: 'MCP discovery server (Streamable HTTP, stateless)',
    description: 'Model Context Protocol, revisions 2025-11-25 and 2026-07-28. Point an MCP client here.',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: message, example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
      },
    },
    responses: {
      '200': {
        description: 'A JSON-RPC 2.0 answer',
        content: {
          'application/json': { schema: message, example: { jsonrpc: '2.0', id: 1, result: { tools: [] } } },
          'text/event-stream': { schema: { type: 'string' }, example: 'event: message\n\n' },
        },
      },
      '202': { description: 'Notification taken' },
      '400': refusal('The message cannot be read'),
      '403': refusal('The Host or Origin is not one that this service answers'),
      '406': refusal('Accept does not take both application/json and text/event-stream'),
      '413': refusal('The message is larger than 64 KB'),
      '415': refusal('The message is not said to be application/json'),
      ...buildFailureRefs(['MethodNotAllowed', 'TooManyRequests', 'Unavailable']),
    },
  };
}
