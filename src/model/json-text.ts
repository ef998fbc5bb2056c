/** Characters that a reader does not see, that change the direction of text, or that a terminal obeys or breaks a line at. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/**
 * Writes JSON for a place where people read and copy it. Unprintable characters are escaped, so a reader sees exactly what is
 * sent, and it parses to the same value.
 */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}

/** Faults of JSON text that a parser does not report. */
export interface JsonFaults {
  /** Keys that are repeated in their object, as JSON pointers (RFC 6901); only the first ones. */
  duplicates: string[];
  /** Position of the first syntax error, from 1; null for well-formed text. */
  error: { line: number; column: number } | null;
}

/** Deepest nesting that is read. Faults in deeper text are not found. */
const MAX_DEPTH = 200;

const MAX_DUPLICATES = 8;

/** Longest part of a key in a pointer, in UTF-16 units. */
const KEY_LENGTH = 80;

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const ESCAPED_KEY = /\\/;

/** Thrown and caught only in this module, to end the scan. */
class ScanEnd extends Error {
  readonly isError: boolean;
  constructor(isError: boolean) {
    super('The scan ended.');
    this.isError = isError;
  }
}

/**
 * Finds duplicate keys, and the position of the first syntax error. JSON parsers silently take the last of two equal keys, so two
 * readers of one document may see two prices. Takes one pass; its memory grows with the keys of open objects.
 */
export function findJsonFaults(text: string): JsonFaults {
  const duplicates: string[] = [];
  const path: (string | number)[] = [];
  let at = 0;
  const fail = (): never => {
    throw new ScanEnd(true);
  };
  const skipSpace = () => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  };
  const readString = (): string => {
    if (text[at] !== '"') fail();
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) {
      if (at >= text.length || text.charCodeAt(at) < 32) fail();
      if (text[at] === '\\') at += 1;
    }
    at += 1;
    return text.slice(start, at);
  };
  const readMembers = (depth: number) => {
    const seen = new Set<string>();
    do {
      at += 1;
      skipSpace();
      if (text[at] === '}' && seen.size === 0) break;
      const key = parseKey(readString());
      if (seen.has(key) && duplicates.length < MAX_DUPLICATES) duplicates.push(formatPath([...path, key]));
      seen.add(key);
      skipSpace();
      if (text[at] !== ':') fail();
      at += 1;
      path.push(key);
      readValue(depth + 1);
      path.pop();
    } while (text[at] === ',');
    if (text[at] !== '}') fail();
    at += 1;
  };
  const readItems = (depth: number) => {
    let index = 0;
    do {
      at += 1;
      skipSpace();
      if (text[at] === ']' && index === 0) break;
      path.push(index);
      readValue(depth + 1);
      path.pop();
      index += 1;
    } while (text[at] === ',');
    if (text[at] !== ']') fail();
    at += 1;
  };
  function readValue(depth: number): void {
    if (depth > MAX_DEPTH) throw new ScanEnd(false);
    skipSpace();
    if (text[at] === '{') readMembers(depth);
    else if (text[at] === '[') readItems(depth);
    else if (text[at] === '"') readString();
    else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) fail();
      at = SCALAR.lastIndex;
    }
    skipSpace();
  }
  try {
    if (text.charCodeAt(0) === 0xfeff) at = 1;
    readValue(0);
    if (at < text.length) fail();
    return { duplicates, error: null };
  } catch (error) {
    if (!(error instanceof ScanEnd)) throw error;
    return { duplicates, error: error.isError ? findLine(text, Math.min(at, text.length)) : null };
  }
}

function parseKey(quoted: string): string {
  if (!ESCAPED_KEY.test(quoted)) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ScanEnd(true);
  }
}

function formatPath(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).slice(0, KEY_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function findLine(text: string, at: number): { line: number; column: number } {
  let [line, start] = [1, 0];
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: at - start + 1 };
}
