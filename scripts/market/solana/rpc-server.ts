import { z } from 'zod';
import { openServer, type Serving } from '../loopback.ts';
import { INVALID_PARAMETERS, METHOD_NOT_FOUND, RpcError } from './rpc-error.ts';
import { buildMethods, type Chain } from './rpc-methods.ts';

const call = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

/** Serves the RPC of the chain on a free port of loopback. */
export function openRpcServer(chain: Chain): Promise<Serving> {
  const methods = buildMethods(chain);
  return openServer(async (request) => {
    const text = await request.text();
    const calls: unknown = JSON.parse(text);
    return Response.json(Array.isArray(calls) ? calls.map(answer) : answer(calls));
  });

  function answer(raw: unknown) {
    const { id, method, params } = call.parse(raw);
    try {
      const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!run) throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
      return { jsonrpc: '2.0', id, result: run(params) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: buildError(error) };
    }
  }
}

function buildError(error: unknown) {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return data === undefined ? { code, message } : { code, message, data };
  }
  return { code: INVALID_PARAMETERS, message: `Invalid params: ${error instanceof Error ? error.message : error}` };
}
