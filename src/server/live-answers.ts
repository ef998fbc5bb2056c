import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers a request by the live app; `headers` are flat names and values that the answer carries before its own. */
export type AnswerLive = (
  request: IncomingMessage,
  response: ServerResponse,
  headers: readonly string[],
) => Promise<void>;

/** An answer as the live app gave it. */
interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/**
 * Opens the live app for a server. Requests that are answered in one turn of the event loop came at the same time: what one
 * of them got, every other gets that asks for the very same. Nothing is kept longer, so nothing is ever out of date.
 */
export function openLiveAnswers(
  live: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): AnswerLive {
  const ofThisTurn = new Map<string, Answer>();
  const forget = () => ofThisTurn.clear();
  return async (request, response, headers) => {
    const key = findKey(request);
    const known = key === undefined ? undefined : ofThisTurn.get(key);
    if (known) {
      response.writeHead(known.status, [...headers, ...known.headers]).end(known.body);
      return;
    }
    addHeaders(response, headers, (answer) => {
      if (key === undefined) return;
      if (ofThisTurn.size === 0) setImmediate(forget);
      ofThisTurn.set(key, answer);
    });
    await live(request, response);
  };
}

/** Names all that the answer to a request depends on; undefined where more than its address and these headers may count. */
function findKey({ method, url = '', headers }: IncomingMessage): string | undefined {
  if (method !== 'GET' || !/^\/(?:agent|discovery)\//.test(url)) return undefined;
  return `${url}\n${headers['accept-encoding'] ?? ''}\n${headers['if-none-match'] ?? ''}`;
}

/**
 * Puts headers before those that an answer will be given, all in one step, which is several times cheaper than setting one
 * after the other. `onAnswer` is told of an answer whose body came in one piece.
 */
function addHeaders(response: ServerResponse, added: readonly string[], onAnswer: (answer: Answer) => void): void {
  const writeHead = response.writeHead.bind(response);
  const end = response.end.bind(response);
  let own: { status: number; headers: string[] } | undefined;
  Object.assign(response, {
    writeHead: (status: number, given: OutgoingHttpHeaders | string[] = []) => {
      own = { status, headers: flattenHeaders(given) };
      return writeHead(status, [...added, ...own.headers]);
    },
    end: (body?: Uint8Array) => {
      if (own && body instanceof Uint8Array) onAnswer({ ...own, body });
      return end(body);
    },
  });
}

function flattenHeaders(headers: OutgoingHttpHeaders | string[]): string[] {
  if (Array.isArray(headers)) return headers;
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) flat.push(name, String(one));
  }
  return flat;
}
