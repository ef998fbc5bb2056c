import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AnswerStore, KeptAnswer } from './answer-store.ts';
import { findQuestion, hasMessage, readMessage } from './questions.ts';

/** Answers a request by the live app; `told` are flat names and values that this answer alone carries. */
export type AnswerLive = (request: IncomingMessage, response: ServerResponse, told: readonly string[]) => Promise<void>;

/** What live answers are made by. */
export interface LiveAnswersOptions {
  readonly live: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Flat names and values of the headers that every live answer carries. */
  readonly headers: readonly string[];
  readonly store: AnswerStore;
}

/**
 * Opens the live app for a server. Whoever asks the very same while nobody wrote to the catalogue gets the very same answer,
 * which is then not made again.
 */
export function openLiveAnswers({ live, headers: given, store }: LiveAnswersOptions): AnswerLive {
  const headers = given.map(makeWhole);
  return async (request, response, told) => {
    const message = hasMessage(request) ? await readMessage(request) : undefined;
    if (message === 'cut off') return;
    const question = findQuestion(request, message);
    const kept = question === undefined ? undefined : store.find(question);
    if (kept) return sendKept(response, kept, told);
    const keep = question === undefined ? undefined : store.open(question);
    addHeaders(response, headers, told, keep);
    await live(request, response);
  };
}

function sendKept(
  response: ServerResponse,
  { status, headers, pieces, bytes }: KeptAnswer,
  told: readonly string[],
): void {
  response.writeHead(status, told.length === 0 ? headers : [...headers, ...told]);
  const [only] = pieces;
  if (only && only.length === bytes) {
    response.end(only);
    return;
  }
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.uncork();
  response.end();
}

/**
 * Puts headers before those that an answer will be given, all in one step, which is several times cheaper than setting one
 * after the other. `keep` is told of the answer when it is complete.
 */
function addHeaders(
  response: ServerResponse,
  headers: readonly string[],
  told: readonly string[],
  keep: ((answer: KeptAnswer) => void) | undefined,
): void {
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let pieces: Uint8Array[] = [];
  let own: { status: number; headers: string[] } | undefined;
  const note = (piece: unknown) => {
    if (piece instanceof Uint8Array) pieces.push(piece);
    else if (typeof piece === 'string') pieces.push(Buffer.from(piece));
  };
  Object.assign(response, {
    writeHead: (status: number, given: OutgoingHttpHeaders | string[] = []) => {
      own = { status, headers: [...headers, ...flattenHeaders(given)] };
      return writeHead(status, told.length === 0 ? own.headers : [...own.headers, ...told]);
    },
    ...(keep && {
      write: (...given: Parameters<typeof write>) => {
        note(given[0]);
        return write(...given);
      },
      end: (...given: Parameters<typeof end>) => {
        note(given[0]);
        if (own) keep({ ...own, pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0) });
        // A connection holds its last response until the next one.
        pieces = [];
        return end(...given);
      },
    }),
  });
}

function flattenHeaders(headers: OutgoingHttpHeaders | string[]): string[] {
  if (Array.isArray(headers)) return headers.map(makeWhole);
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) flat.push(name, makeWhole(String(one)));
    }
  }
  return flat;
}

/** A text that was put together is a chain of its parts inside V8, which would be followed each time the text is sent. */
function makeWhole(text: string): string {
  const whole = Buffer.from(text, 'latin1').toString('latin1');
  // What is not Latin-1 is no header, and left for Node to refuse.
  return whole === text ? whole : text;
}
