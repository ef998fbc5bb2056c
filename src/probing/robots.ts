import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { PROBED_BODY_PIECES } from '../fetching/limits.ts';
import { ROBOT_NAME } from '../model/robot.ts';

/** Longest wait for a robots.txt, in milliseconds. */
const LONGEST_MS = 10_000;

/** Bytes of a robots.txt that are read: as many as RFC 9309 section 2.5 asks for. */
const MAX_BYTES = 500 * 1024;

/** Rules that are read of those meant for us. */
const MAX_RULES = 2_000;

/** Characters of a rule that is read: as many as an address may have that we ask for. */
const MAX_RULE_LENGTH = 2_048;

/** Wildcards of a rule that is read: nobody who means them needs more, and each takes time in every check. */
const MAX_WILDCARDS = 16;

/** Longest pause between requests that a host can ask for, in seconds: a longer one would keep a run waiting. */
const MAX_DELAY_SECONDS = 30;

/** Last line of a text that was cut, so that its reader knows. */
const CUT = `# Not read beyond the first ${MAX_BYTES} bytes.`;

/** What of a robots.txt was left unread, because no host may take all of our time or memory with it. */
export type UnreadPart =
  | 'beyond_500_kib'
  | 'beyond_2000_rules'
  | 'rules_over_2048_characters'
  | 'rules_over_16_wildcards';

/** What a host's robots.txt says to us. */
export interface Robots {
  /** Finds the rule that forbids an address; undefined where it may be asked for. */
  findForbidding(url: string): string | undefined;
  /** Pause that it asks for between requests, in milliseconds; 0 where it asks for none. */
  delayMs: number;
  /** Empty where all that is meant for us was read. */
  unread: readonly UnreadPart[];
}

/**
 * Fetches the robots.txt of an origin; empty where it has none (RFC 9309 section 2.3.1.3), its whole lines within the
 * first 500 KiB where it is longer. Undefined where nobody answers or the answer is a failure: the RFC would have such
 * a host left alone, but whether it answers is what probes are for.
 */
export async function fetchRobots(
  client: GuardedClient,
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

/** Half a line would be another rule: `/private` cut to `/pri`. */
function cutToLines(text: string): string {
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  return `${text.slice(0, end + 1)}${CUT}`;
}

interface Rule {
  allows: boolean;
  /** Normalised, so that it can be compared with a normalised path. */
  pattern: string;
  /** It has no wildcard, and the whole path must be `first`. */
  isExact: boolean;
  /** What stands before the first wildcard, what behind each, and what the path must end with, if anything. */
  first: string;
  rest: string[];
  last: string | undefined;
}

/** Rules that stand together, under the names of those they are for. */
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
 * Parses a robots.txt (RFC 9309). Rules for us by name come before rules for everybody; what is no robots.txt allows
 * everything. Every check of an address takes time in proportion to the rules and the address, whatever they are.
 */
export function parseRobots(text: string): Robots {
  const { rules, delay = 0, hasLongRules, hasMoreRules, hasWildRules } = findGroup(text);
  // The longest rule that matches decides, and of two equally long ones that which allows (section 2.2.2).
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

/** Finds the rules for us: all groups with our name together, else all for everybody (section 2.2.1). */
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

/** Lists the lines that say something, without comments; keys in lower case. One at a time: there may be half a million. */
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
 * Brings a path or pattern into the one spelling in which they are compared (section 2.2.2): outside ASCII
 * percent-encoded, and unreserved characters not.
 */
function normalise(text: string): string {
  return text.toWellFormed().replace(/%[0-9a-f]{2}|[^\x21-\x7e]/giu, (part) => {
    if (part.length < 3 || !part.startsWith('%')) return encodeURIComponent(part);
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : part.toUpperCase();
  });
}

/** Builds a rule of a pattern in which `*` stands for anything, and `$` at its end for the end. */
function buildRule(allows: boolean, value: string): Rule {
  const pattern = normalise(value).replace(/\*+/g, '*');
  const isWhole = pattern.endsWith('$');
  const [first = '', ...rest] = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  const isExact = isWhole && rest.length === 0;
  return { allows, pattern, isExact, first, rest, last: isWhole ? rest.pop() : undefined };
}

/**
 * Returns whether a rule matches a path from its beginning. Each part is looked for once, behind the one before, so
 * that no number of wildcards makes it try again.
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
