import type { GuardedClient } from '../fetching/client.ts';
import { fetchToolCall } from '../fetching/tool-call.ts';
import { MAX_CHALLENGE_BYTES } from '../x402/challenge-json.ts';
import { readToolAnswer } from '../x402/tool-answer.ts';
import { type Answer, buildVerdict, type Verdict } from './classify.ts';
import type { ProbeRequest } from './probe-request.ts';

/** JSON-RPC's code for a method that a server does not have. */
const METHOD_NOT_FOUND = -32_601;

/**
 * Calls a tool without payment. Returns its request for payment as a 402, any answer without such a request as it came
 * over HTTP, or its verdict if the server reports an error in the words of MCP. Throws what the guarded client throws.
 */
export async function fetchTool(
  client: Pick<GuardedClient, 'fetch'>,
  { url, headers, body = '' }: ProbeRequest,
  {
    timeoutMs,
    signal,
    pause,
  }: { timeoutMs: number; signal?: AbortSignal | undefined; pause?: (() => Promise<void>) | undefined },
): Promise<(Answer & { elapsedMs: number }) | { verdict: Verdict; elapsedMs: number }> {
  const limits = { totalMs: timeoutMs, bodyBytes: 2 * MAX_CHALLENGE_BYTES, decodedBytes: 2 * MAX_CHALLENGE_BYTES };
  const call = { url, headers, message: body, limits, signal, pause };
  const { response, message } = await fetchToolCall(client, call);
  const { status, elapsedMs } = response;
  const answer = readToolAnswer(message);
  switch (answer.kind) {
    case 'challenge': {
      const asked = new TextEncoder().encode(JSON.stringify(answer.challenge));
      return { status: 402, headers: new Headers(), body: asked, isTool: true, elapsedMs };
    }
    case 'failed': {
      const isMissing = answer.code === METHOD_NOT_FOUND;
      const verdict = isMissing
        ? buildVerdict('no_402', 'no_such_tool', { status })
        : buildVerdict('input_rejected', 'tool_refused', { status });
      return { verdict, elapsedMs };
    }
    case 'product':
      return { ...response, elapsedMs };
    case 'no_rpc':
      if (status < 200 || status > 299) return { ...response, elapsedMs };
      return { verdict: buildVerdict('malformed', 'no_mcp_answer', { status }), elapsedMs };
  }
}
