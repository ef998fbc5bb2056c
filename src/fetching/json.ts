import type { GuardedClient } from './client.ts';
import { buildFetchFailure } from './failure.ts';
import type { FetchInit } from './request.ts';

/**
 * Deepest nesting of JSON. No document needs deeper JSON, which would overflow the stack of the code that walks it
 * later (schemas, stringify).
 */
const MAX_DEPTH = 200;

/**
 * Fetches an address that must answer 2xx with JSON, and returns its value. Throws what `GuardedClient.fetch` throws,
 * `bad_status` (with `details.status`) for any other status, and `bad_json`.
 */
export async function fetchJson(client: GuardedClient, address: string | URL, init: FetchInit = {}): Promise<unknown> {
  const response = await client.fetch(address, { ...init, headers: { accept: 'application/json', ...init.headers } });
  const host = new URL(response.url).hostname;
  if (response.status < 200 || response.status > 299) {
    const details = { host, status: response.status, sent: true };
    throw buildFetchFailure('bad_status', `The host ${host} answered with status ${response.status}.`, { details });
  }
  return parseJsonBody(response.body, response.headers.get('content-type'), `The host ${host} sent`);
}

/**
 * Parses JSON bytes. They are UTF-8 (RFC 8259 section 8.1), unless a byte order mark says otherwise, or they are not
 * valid UTF-8 and the content type names another `charset`. Throws `bad_json`, whose message begins with `subject`
 * (`The host a.example sent`) and never quotes the text.
 */
export function parseJsonBody(body: Uint8Array, contentType: string | null, subject: string): unknown {
  const text = findText(body, contentType);
  if (text === undefined) throw buildFetchFailure('bad_json', `${subject} bytes that are not text.`);
  const start = text.trimStart().slice(0, 1);
  if (start === '') throw buildFetchFailure('bad_json', `${subject} nothing where JSON was expected.`);
  if (isTooDeep(text)) throw buildFetchFailure('bad_json', `${subject} JSON nested too deeply to be read.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own error quotes the text, so it is not kept as the cause.
    if (!(error instanceof SyntaxError)) throw error;
    throw buildFetchFailure('bad_json', `${subject} ${start === '<' ? 'HTML' : 'text'} where JSON was expected.`);
  }
}

function findText(body: Uint8Array, contentType: string | null): string | undefined {
  const declared = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  const marked = findCharsetByMark(body);
  for (const charset of marked ? [marked] : ['utf-8', declared ?? 'utf-8']) {
    const text = decodeText(body, charset);
    if (text !== undefined) return text;
  }
  return undefined;
}

function findCharsetByMark(body: Uint8Array): string | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decodeText(body: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body);
  } catch (error) {
    // RangeError: unknown charset. TypeError: bytes that are invalid in it.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];

/**
 * Returns whether JSON text nests arrays and objects deeper than any document needs, without parsing it. It reads
 * character by character, because a regular expression overflows its stack on long hostile strings.
 */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isInString) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) isInString = false;
    } else if (unit === QUOTE) isInString = true;
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
