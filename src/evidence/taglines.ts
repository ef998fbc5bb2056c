import type { DeclaredRoute } from '../model/route.ts';
import { cutText, getFirstSentence, TEXT_LIMITS } from '../model/text.ts';
import { getLetters } from './titles.ts';

/** Texts of templates, which many sellers leave as they are. */
const TEMPLATE_TEXT =
  /^(?:access to (?:an? |the )?(?:protected|premium|paid|safe)(?: \w+)?|premium(?: \w+)? access|(?:protected|paid|premium) (?:content|resource|endpoint|route)|payment required|hello world|no description|(?:x402 )?(?:demo|test)(?: (?:endpoint|resource|route))?)$/i;

/** The beginning of a list whose items were lost. */
const CUT_OFF = /^(?:it|this|(?:the|this) \w+) (?:allows?|lets?|enables?)(?: you)?(?: to)?\b\W*\d?\W*$/i;

/** A price, which does not say what it buys: `$0.01`, `0.01 USDC on base-sepolia`, `(0.10 USDC per call)`. */
const PRICE =
  /(?:\$\s?\d[\d.,]*|\d[\d.,]*\s?(?:USDC?|dollars?|cents?)\b)(?:\s*(?:\/|per|a|an)\s*(?:call|request|query|use)\b)?(?:\s+on\s+[\w-]+)?/gi;

/** Scripts that are written without blanks between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/gu;

/**
 * Returns whether a tagline says what the listing offers. One that is empty, one word, an address, a price, an identifier,
 * a template's text, cut off after a colon, or the title again does not.
 */
export function isTagline(tagline: string, title: string, baseUrl: string): boolean {
  if (/[:：]$/.test(tagline) || CUT_OFF.test(tagline)) return false;
  const said = tagline
    .replace(PRICE, ' ')
    .replace(/\b(?:https?:\/\/|www\.)\S+/gi, ' ')
    .trim();
  const plain = said.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const letters = getLetters(plain);
  if (letters === '' || letters === getLetters(title) || letters === getLetters(new URL(baseUrl).host)) return false;
  if (TEMPLATE_TEXT.test(plain) || /^[0-9a-f-]{16,}$/i.test(plain)) return false;
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return (words.length >= 2 && /\p{L}{2}/u.test(plain)) || (plain.match(UNSPACED)?.length ?? 0) >= 4;
}

/** The method and path with which some begin the description of a route: `POST /upload — `. */
const REQUEST_LINE = /^(?:GET|POST|PUT|PATCH|DELETE)\s+\/\S*\s*(?:[—–:-]\s*)?/;

/** End of the first thing that a sentence says: a dash, a colon or a semicolon. */
const BREAK = /\s[—–|-]+\s|[:;]\s/;

/** A word with a footnote's mark: `verified* coin`. The footnote may take the claim back, so that it is not quoted alone. */
const FOOTNOTE_MARK = /\p{L}\*(?!\*)/u;

/** Longest opening of a description, in UTF-16 units. */
const OPENING_LENGTH = 120;

/**
 * Returns the first thing that the description of a route says: "Tide heights" of "Tide heights (metric): for every port."
 * Empty if that says nothing.
 */
export function getOpening(description: string, title: string, baseUrl: string): string {
  const sentence = removeRequestLine(getFirstSentence(description)).replace(/\s*[([][^()[\]]*[)\]]/g, '');
  const [start = ''] = sentence.split(BREAK, 1);
  const [short = ''] = start.split(/,\s/, 1);
  const parts = [...(start.length > OPENING_LENGTH ? [short] : []), start, sentence];
  const opening = parts.find((text) => isTagline(text, title, baseUrl) && !FOOTNOTE_MARK.test(text)) ?? '';
  return opening.replace(/[\s.,;:。]+$/u, '');
}

/** Returns a sentence without the method and the path that some begin with. */
export function removeRequestLine(sentence: string): string {
  return sentence.replace(REQUEST_LINE, '');
}

/** Joins openings to a line while they fit, without long ones if there are others: "Tide heights; Moon phases and more". */
export function joinOpenings(openings: readonly string[]): string {
  const isShort = (opening: string) => opening.length <= OPENING_LENGTH;
  const short = openings.filter(isShort);
  const shown = short.length > 0 ? short : openings;
  const length = TEXT_LIMITS.tagline - ' and more'.length;
  const fitting = shown.filter((_, at) => at === 0 || shown.slice(0, at + 1).join('; ').length <= length);
  return `${cutText(fitting.join('; '), length)}${fitting.length < openings.length ? ' and more' : ''}`;
}

/** Largest number of routes that a generated tagline names, and the longest name of one. */
const NAMED_ROUTES = 4;
const NAME_LENGTH = 40;

/** The line for routes whose paths and descriptions say nothing. */
const UNSAID = 'Nothing on record says what it does.';

/** Number of names above which there are too many to choose from. */
const MANY_NAMES = 12;

/** Segments of a path that say nothing of what a route does. */
const EMPTY_SEGMENT =
  /^(?:api|apis|v\d+(?:\.\d+)*|x402|rest|public|protected|premium|paid|route|routes|proxy|index|res|resource|resources|content|endpoint|data|ping|test|demo|hello|cid)$/i;

/** Segments that are values: templates, numbers, identifiers and hashes. */
const VALUE_SEGMENT =
  /^[:{*]|^\d+$|^0x[0-9a-f]+$|^(?=.*\d)[a-z0-9_-]{20,}$|^[0-9a-f]{8}-[0-9a-f-]{20,}$|^[a-z]+_[0-9a-f]{10,}$|^Qm\w{40,}$/i;

/** Returns a line that names what the paths say: "12 routes: search, convert, scrape and more"; empty without routes. */
export function buildTagline(routes: readonly Pick<DeclaredRoute, 'path'>[]): string {
  if (routes.length === 0) return '';
  const count = routes.length === 1 ? '1 route' : `${routes.length} routes`;
  const paths = routes.map(({ path }) => listSegments(path));
  const shared = countShared(paths);
  const own = paths.map((segments) => segments.slice(shared));
  const telling = own.some((segments) => segments.length > 0) ? own : paths;
  const names = listNames(telling);
  if (names.length === 0) return UNSAID;
  const isWhole = names.length <= NAMED_ROUTES + 1 && telling.every((segments) => nameRoute(segments) !== '');
  if (!isWhole) return `${count}: ${names.slice(0, NAMED_ROUTES).join(', ')} and more`;
  return `${count}: ${[names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')}`;
}

/** Lists the segments of a path that say something. */
function listSegments(path: string): string[] {
  const [plain = ''] = path.split('?', 1);
  return plain.split('/').filter((segment) => segment !== '' && !EMPTY_SEGMENT.test(segment) && !isValue(segment));
}

function isValue(segment: string): boolean {
  return VALUE_SEGMENT.test(segment) || /%[0-9a-f]{2}/i.test(segment);
}

/** Counts the segments with which all paths begin, one of each path left over. */
function countShared(paths: readonly string[][]): number {
  const [first = []] = paths;
  let shared = 0;
  while (shared < first.length && paths.every((path) => path[shared] === first[shared])) shared += 1;
  return shared > 0 && paths.length === 1 ? Math.max(0, first.length - 2) : shared;
}

/** Writes the first two segments as words. */
function nameRoute(segments: readonly string[]): string {
  const words = segments
    .slice(0, 2)
    .join(' ')
    .replace(/\.(?:json|php|html?)$/i, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
    .replace(/ (?:by|of|for|from|in|to|with)$/, '');
  return words.length > NAME_LENGTH ? '' : words;
}

/**
 * Lists distinct names of paths: names of the most paths first, then the plainest, of fewer words and fewer letters.
 */
function listNames(paths: readonly string[][]): string[] {
  const whole = countNames(paths.map((segments) => nameRoute(segments)));
  const beginnings = countNames(paths.map((segments) => nameRoute(segments.slice(0, 1))));
  // Many routes are named by their subjects, if they have several.
  const names = whole.size > MANY_NAMES && beginnings.size > NAMED_ROUTES ? beginnings : whole;
  const count = (name: string) => name.split(' ').length;
  return [...names]
    .sort(([a, some], [b, others]) => others - some || count(a) - count(b) || a.length - b.length || (a < b ? -1 : 1))
    .map(([name]) => name);
}

function countNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
