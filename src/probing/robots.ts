import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { ROBOT_NAME } from '../model/probe.ts';
import { PROBED_BODY_PIECES } from './probe-request.ts';

/** Time limit for fetching robots.txt, in milliseconds. */
const LONGEST_MS = 10_000;

/** Bytes of a robots.txt that are read: the minimum of RFC 9309 section 2.5. */
const MAX_BYTES = 500 * 1024;

/** Most rules for us that are read. */
const MAX_RULES = 2_000;

/** Longest rule that is read, in characters: as long as the longest address that we request. */
const MAX_RULE_LENGTH = 2_048;

/** Most wildcards in a rule that is read. Honest rules need no more, and each costs time in every check. */
const MAX_WILDCARDS = 16;

/** Longest pause between requests that a host can ask for, in seconds. A longer one would delay the whole run. */
const MAX_DELAY_SECONDS = 30;

/** Last line of a text that was cut. */
const CUT = `# Not read beyond the first ${MAX_BYTES} bytes.`;

/** Parts of a robots.txt that were not read, so that no host can use up our time or memory. */
type UnreadPart = 'beyond_500_kib' | 'beyond_2000_rules' | 'rules_over_2048_characters' | 'rules_over_16_wildcards';

/** The rules of a host's robots.txt for us. */
export interface Robots {
  /** Finds the rule that forbids an address; undefined if the address is allowed. */
  findForbidding(url: string): string | undefined;
  /** Pause that it asks for between requests, in milliseconds; 0 for none. */
  delayMs: number;
  /** Unread parts; empty if all rules for us were read. */
  unread: readonly UnreadPart[];
}

/**
 * Fetches the robots.txt of an origin. Returns empty text if it has none (RFC 9309 section 2.3.1.3), and the whole
 * lines of the first 500 KiB if it is longer. Returns undefined if the host does not answer or answers with a failure.
 * The RFC forbids requests in that case, but probes exist to find out whether a host answers.
 */
export async function fetchRobots(
  client: Pick<GuardedClient, 'fetch'>,
  origin: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<string | undefined> {
  const size = { bodyBytes: MAX_BYTES, bodyPieces: PROBED_BODY_PIECES, decodedBytes: MAX_BYTES };
  const limits = { totalMs: Math.min(timeoutMs, LONGEST_MS), ...size };
  try {
    const { status, body, isCut } = await client.fetch(`${origin}/robots.txt`, { signal, limits, isCutAllowed: true });
    if (status >= 500 || status === 429) return undefined;
    if (status < 200 || status > 299) return '';
    const text = new TextDecoder().decode(body);
    return isCut ? cutToLines(text) : text;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Cuts a text after its last whole line, because half a line is another rule: `/private` would become `/pri`. */
function cutToLines(text: string): string {
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  return `${text.slice(0, end + 1)}${CUT}`;
}

interface Rule {
  allows: boolean;
  /** The normalised pattern. */
  pattern: string;
  /** True if the pattern has no wildcard, and the whole path must equal `first`. */
  isExact: boolean;
  /**
   * The parts of the pattern: before the first wildcard, after each wildcard, and the end that the path must have, if
   * any.
   */
  first: string;
  rest: string[];
  last: string | undefined;
}

/** A group of rules for certain user agents. */
interface Group {
  rules: Rule[];
  delay: number | undefined;
  hasLongRules: boolean;
  hasMoreRules: boolean;
  hasWildRules: boolean;
}

const buildGroup = (): Group => ({
  rules: [],
  delay: undefined,
  hasLongRules: false,
  hasMoreRules: false,
  hasWildRules: false,
});

/**
 * Parses a robots.txt (RFC 9309). Rules for our name take precedence over rules for everybody. Text that is not a
 * robots.txt allows everything. Checking an address takes time in proportion to the rules and the address.
 *
 * It is not left to a library, because hosts are hostile: robots-parser 3.0 takes 15 s to check one address against
 * 500 KiB of wildcards, and 2.5 s and 235 MB to parse 40 kB of names and rules.
 */
export function parseRobots(text: string): Robots {
  const { rules, delay = 0, hasLongRules, hasMoreRules, hasWildRules } = findGroup(text);
  // The longest matching rule decides. Of two equally long ones the one that allows decides (section 2.2.2).
  rules.sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allows) - Number(a.allows));
  return {
    findForbidding(url) {
      const { pathname, search } = new URL(url);
      const path = normalise(pathname + search);
      const deciding = rules.find((rule) => isMatch(rule, path));
      return deciding && !deciding.allows ? deciding.pattern : undefined;
    },
    delayMs: Math.min(Math.max(delay, 0), MAX_DELAY_SECONDS) * 1000 || 0,
    unread: [
      ...(text.endsWith(CUT) ? (['beyond_500_kib'] as const) : []),
      ...(hasMoreRules ? (['beyond_2000_rules'] as const) : []),
      ...(hasLongRules ? (['rules_over_2048_characters'] as const) : []),
      ...(hasWildRules ? (['rules_over_16_wildcards'] as const) : []),
    ],
  };
}

/** Finds the rules for us: those of all groups with our name, else those of all groups for everybody (section 2.2.1). */
function findGroup(text: string): Group {
  const [ours, everybodys] = [buildGroup(), buildGroup()];
  let isNamed = false;
  let current = new Set<Group>();
  let isBetweenNames = false;
  for (const { key, value } of listLines(text)) {
    if (key === 'user-agent') {
      if (!isBetweenNames) current = new Set();
      isBetweenNames = true;
      const name = /^[a-z_-]*/i.exec(value)?.[0].toLowerCase();
      if (name === ROBOT_NAME) {
        isNamed = true;
        current.add(ours);
      } else if (value.startsWith('*')) current.add(everybodys);
    } else if (key === 'allow' || key === 'disallow' || key === 'crawl-delay') {
      isBetweenNames = false;
      for (const group of current) addLine(group, key, value);
    }
  }
  return isNamed ? ours : everybodys;
}

/**
 * Generates the lines that have a key, without comments; keys in lower case. There may be half a million, so they are
 * not kept.
 */
function* listLines(text: string): Generator<{ key: string; value: string }> {
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    const comment = line.indexOf('#');
    const said = comment < 0 ? line : line.slice(0, comment);
    const colon = said.indexOf(':');
    if (colon < 0) continue;
    yield { key: said.slice(0, colon).trim().toLowerCase(), value: said.slice(colon + 1).trim() };
  }
}

function addLine(group: Group, key: 'allow' | 'disallow' | 'crawl-delay', value: string): void {
  if (key === 'crawl-delay') group.delay ??= Number.parseFloat(value) || 0;
  else if (value.length > MAX_RULE_LENGTH) group.hasLongRules = true;
  else if (value !== '' && group.rules.length === MAX_RULES) group.hasMoreRules = true;
  else if (hasManyWildcards(value)) group.hasWildRules = true;
  else if (value !== '') group.rules.push(buildRule(key === 'allow', value));
}

function hasManyWildcards(value: string): boolean {
  let count = 0;
  for (const _wildcards of value.matchAll(/\*+/g)) {
    count += 1;
    if (count > MAX_WILDCARDS) return true;
  }
  return false;
}

/**
 * Normalises a path or pattern for comparison (section 2.2.2): characters outside ASCII are percent-encoded, unreserved
 * ones are not.
 */
function normalise(text: string): string {
  return text.toWellFormed().replace(/%[0-9a-f]{2}|[^\x21-\x7e]/giu, (part) => {
    if (part.length < 3 || !part.startsWith('%')) return encodeURIComponent(part);
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : part.toUpperCase();
  });
}

/** Builds a rule from a pattern, in which `*` matches anything and a final `$` matches the end. */
function buildRule(allows: boolean, value: string): Rule {
  const pattern = normalise(value).replace(/\*+/g, '*');
  const isWhole = pattern.endsWith('$');
  const [first = '', ...rest] = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  const isExact = isWhole && rest.length === 0;
  return { allows, pattern, isExact, first, rest, last: isWhole ? rest.pop() : undefined };
}

/**
 * Returns whether a rule matches a path from its beginning. Each part is searched once, after the previous one, so
 * wildcards cause no backtracking.
 */
function isMatch({ isExact, first, rest, last }: Rule, path: string): boolean {
  if (isExact) return path === first;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return last === undefined || (path.length - last.length >= at && path.endsWith(last));
}
