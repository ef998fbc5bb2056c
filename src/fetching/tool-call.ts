import { ServiceError } from '../errors.ts';
import { tryParseJson } from '../model/json.ts';
import type { FetchResponse, GuardedClient } from './client.ts';
import { buildFetchFailure } from './failure.ts';
import { isTooDeep } from './json.ts';
import type { PerFetchLimits } from './limits.ts';

/** The revision of MCP that is offered; a server may answer with an earlier one. */
const PROTOCOL = '2025-11-25';

/** Headers of a client of an MCP server (MCP, "Streamable HTTP"). */
export const TOOL_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

export interface ToolCallOptions {
  url: URL;
  headers: Record<string, string>;
  /** The message of the call, as JSON. */
  message: string;
  /** True if the message carries a payment; then it is sent over a connection of its own. */
  isPaying?: boolean;
  /** Limits of each of the three requests. */
  limits: Partial<PerFetchLimits>;
  signal?: AbortSignal | undefined;
  /** Awaited before each further request. Its errors are thrown on. */
  pause?: (() => Promise<void>) | undefined;
}

/** The answer of the server, and the JSON-RPC message in it; undefined if it holds no message. */
export interface ToolCallAnswer {
  response: FetchResponse;
  message: unknown;
}

/**
 * Calls a tool of an MCP server over Streamable HTTP (MCP, revision 2025-11-25): `initialize`, the notification that it
 * is done, and the call. If the server refuses the first, its answer is returned, or for a call with a payment
 * `malformed` is thrown. Follows no redirects. Throws what the guarded client throws; `details.sent` is about the call
 * alone, so a failure before it is one of a call not sent.
 */
export async function fetchToolCall(
  client: Pick<GuardedClient, 'fetch'>,
  { url, headers, message, isPaying = false, limits, signal, pause }: ToolCallOptions,
): Promise<ToolCallAnswer> {
  const post = (body: string, session: Record<string, string>, isPayment = false) =>
    client.fetch(url, {
      isPaying: isPayment,
      method: 'POST',
      headers: { ...headers, ...TOOL_HEADERS, ...session },
      body,
      redirect: 'manual',
      limits,
      signal,
    });
  const opened = await post(buildInitialize(), {}).catch(throwUnsent);
  const hello = readMessage(opened);
  if (!isResult(hello)) {
    if (isPaying) throw buildUnopened(url.hostname);
    return { response: opened, message: hello };
  }
  const id = opened.headers.get('mcp-session-id');
  const { protocolVersion } = hello.result;
  const session = {
    'mcp-protocol-version': typeof protocolVersion === 'string' ? protocolVersion : PROTOCOL,
    ...(id !== null && { 'mcp-session-id': id }),
  };
  await pause?.();
  await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), session).catch(throwUnsent);
  await pause?.();
  const response = await post(message, session, isPaying);
  return { response, message: readMessage(response) };
}

/** Throws a failure from before the call, of which nobody can have seen anything. */
function throwUnsent(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, reason, details } = error;
  throw new ServiceError(code, message, { reason, cause: error.cause, details: { ...details, sent: false } });
}

/** Builds the failure of a server that opens no session: its answer is not the answer to the call. */
function buildUnopened(host: string): ServiceError {
  return buildFetchFailure('malformed', `The host ${host} opens no session of MCP.`, {
    details: { host, sent: false },
  });
}

function buildInitialize(): string {
  const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'agent-payable', version: '1' } };
  return JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
}

function isResult(message: unknown): message is { result: Record<string, unknown> } {
  return typeof message === 'object' && message !== null && 'result' in message && message.result instanceof Object;
}

/** Returns the message with the answer: the JSON of the body, or the last of its events that has an answer. */
function readMessage({ headers, body }: FetchResponse): unknown {
  const text = new TextDecoder().decode(body);
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const candidates = isStream
    ? text.split(/\r?\n\r?\n/).map((event) =>
        event
          .split(/\r?\n/)
          .flatMap((line) => (line.startsWith('data:') ? line.slice('data:'.length) : []))
          .join('\n'),
      )
    : [text];
  // JSON that is too deep would break the code that walks it later.
  const messages = candidates.filter((one) => !isTooDeep(one)).map(tryParseJson);
  return messages.findLast((one) => one instanceof Object && ('result' in one || 'error' in one));
}
