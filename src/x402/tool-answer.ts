import { isObject, tryParseJson } from '../model/json.ts';
import { checkChallengeObject } from './challenge-json.ts';

/** The key of a payment in the `_meta` of a tool call, and of the seller's receipt in the `_meta` of the result. */
const PAYMENT_KEY = 'x402/payment';
const RESPONSE_KEY = 'x402/payment-response';

/** Code of a JSON-RPC error by which older servers ask for a payment. */
const PAYMENT_REQUIRED = 402;

/** Adds a payment to the message of a tool call. */
export function addToolPayment(message: string, payment: unknown): string {
  const { params, ...rest } = JSON.parse(message);
  return JSON.stringify({ ...rest, params: { ...params, _meta: { [PAYMENT_KEY]: payment } } });
}

/**
 * Meaning of the message that answers a tool call. `challenge`: it asks for a payment. `product`: the tool answered,
 * with `text` as its result. `failed`: the tool, or the server, reports an error. `no_rpc`: it is no answer of MCP.
 */
export type ToolAnswer =
  | { kind: 'challenge'; challenge: Record<string, unknown> }
  | { kind: 'product'; text: string; receipt: unknown }
  | { kind: 'failed'; code: number | null; text: string; receipt: unknown }
  | { kind: 'no_rpc' };

/**
 * Reads the answer to a tool call (x402, "Transport: MCP"). A payment is asked for in `structuredContent` of a result, in
 * its `x402/error`, in the text of its first content, or in a JSON-RPC error with the code 402. Never throws.
 */
export function readToolAnswer(message: unknown): ToolAnswer {
  if (!isObject(message)) return { kind: 'no_rpc' };
  const { result, error } = message;
  if (isObject(error)) {
    const challenge = error.code === PAYMENT_REQUIRED ? findChallenge(error.data) : undefined;
    if (challenge) return { kind: 'challenge', challenge };
    const code = typeof error.code === 'number' ? error.code : null;
    return { kind: 'failed', code, text: formatFailure(error), receipt: undefined };
  }
  if (!isObject(result)) return { kind: 'no_rpc' };
  const text = getText(result);
  const inText = text.startsWith('{') ? tryParseJson(text) : undefined;
  const asked = [result.structuredContent, inText].map(findChallenge).find((found) => found !== undefined);
  if (asked && result.isError === true) return { kind: 'challenge', challenge: asked };
  const receipt = isObject(result._meta) ? result._meta[RESPONSE_KEY] : undefined;
  if (result.isError === true) return { kind: 'failed', code: null, text: formatFailure(text), receipt };
  const { structuredContent } = result;
  return { kind: 'product', text: isObject(structuredContent) ? JSON.stringify(structuredContent) : text, receipt };
}

/**
 * Longest part of an error that is kept, in characters: only a whole answer can be recognised as an error, and long
 * ones are cut.
 */
const MAX_ERROR = 4_000;

/** Writes an error so that its own words mark it as one, even without a reason. */
function formatFailure(error: unknown): string {
  const words = typeof error === 'string' ? error : JSON.stringify(error);
  return JSON.stringify({ isError: true, error: words.length > MAX_ERROR ? words.slice(0, MAX_ERROR) : error });
}

function findChallenge(value: unknown): Record<string, unknown> | undefined {
  // A value that is too deep cannot be written again.
  if ('problem' in checkChallengeObject(value) || !isObject(value)) return undefined;
  if (value.x402Version !== undefined && Array.isArray(value.accepts)) return value;
  const wrapped = value['x402/error'];
  return isObject(wrapped) ? findChallenge(wrapped.data) : undefined;
}

/** Returns the text of the first content of a result; the JSON of content of other kinds. */
function getText({ content }: Record<string, unknown>): string {
  const [first] = Array.isArray(content) ? content : [];
  if (!isObject(first)) return '';
  return first.type === 'text' && typeof first.text === 'string' ? first.text : JSON.stringify(content);
}
