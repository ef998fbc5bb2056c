import { findNamedNetwork } from '../model/network.ts';
import type { Suggestion } from '../model/suggestion.ts';
import { formatUsdc, parseUsdc, readTypedPrice } from '../model/usdc.ts';
import { STOP_WORDS } from './stop-words.ts';
import { listWords } from './words.ts';

/** A way to name a filter in words. */
interface Pattern {
  readonly parameter: Suggestion['parameter'];
  readonly pattern: RegExp;
  /** Returns the value of the parameter; undefined if the words mean something else. */
  readonly read: (match: RegExpExecArray, before: string, after: string) => string | undefined;
  /** Use of the words in the search: they are left out, weigh less, or weigh as much as others. */
  readonly role: 'left out' | 'lesser' | 'plain';
}

/** A suggestion with its position in the request. */
interface Phrase extends Suggestion, Pick<Pattern, 'role'> {
  readonly start: number;
  readonly end: number;
}

/** Most hosts of a request that are looked up in the catalogue. */
const HOSTS_MAX = 5;

/**
 * Returns the filters that a request names, in the order of its words: at most one value for each parameter, and none for a
 * parameter with two different values. A host counts only if `isListed` returns true for it.
 */
export function readSuggestions(request: string, isListed: (host: string) => boolean): Suggestion[] {
  const phrases = listPhrases(squeeze(request));
  const named = new Set(phrases.flatMap(({ parameter, value }) => (parameter === 'host' ? [value] : [])));
  const hosts = new Set([...named].slice(0, HOSTS_MAX).filter(isListed));
  const found = new Map<Suggestion['parameter'], Suggestion>();
  const doubtful = new Set<Suggestion['parameter']>();
  for (const { parameter, value, words } of phrases) {
    if (parameter === 'host' && !hosts.has(value)) continue;
    const first = found.get(parameter);
    if (first === undefined) found.set(parameter, { parameter, value, words });
    else if (first.value !== value) doubtful.add(parameter);
  }
  return [...found.values()].filter(({ parameter }) => !doubtful.has(parameter));
}

/**
 * Returns the text to search with: the request without its prices; empty if it names only a price, an order or "verified".
 * `lesser` holds, in lower case, the words that read like another filter and weigh less.
 */
export function readSearchText(request: string): { readonly text: string; readonly lesser: ReadonlySet<string> } {
  const whole = squeeze(request);
  const phrases = listPhrases(whole);
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of phrases.filter(({ role }) => role === 'left out')) {
    pieces.push(whole.slice(from, start));
    from = end;
  }
  const text = [...pieces, whole.slice(from)].join(' ');
  const lesser = new Set(phrases.flatMap(({ role, words }) => (role === 'lesser' ? listWords(words) : [])));
  // A network may itself be the subject of the search: "solana".
  const isOfAll =
    phrases.length > 0 && phrases.every(({ parameter }) => parameter !== 'network' && parameter !== 'host');
  const isSaid = (word: string) => !(isOfAll && (lesser.has(word) || STOP_WORDS.has(word)));
  return { text: pieces.length + lesser.size === 0 || listWords(text).some(isSaid) ? text.trim() : '', lesser };
}

/** Replaces each run of blanks by one blank or line end, so that no pattern needs an unbounded repetition. */
function squeeze(request: string): string {
  return request.trim().replace(/\s+/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
}

/** Text in double quotes is searched for, and never read as a filter. */
const QUOTED = /"[^"]*"|“[^“”]*”/g;

/** Words before a filter that negate it. */
const NEGATED =
  /(?:\b(?:not|no|never|without|except|unless|nor|un|(?:do|does|is|are)nt)|n['’]t)[ -](?:(?:been|be|yet|the|an?|only|on|from) ){0,2}$/i;

/** Number of characters around a filter that are read. */
const AROUND = 40;

/**
 * Lists the filters that a text names, in order. All repetitions in the patterns are bounded, so the time is proportional to the
 * length of the text.
 */
function listPhrases(text: string): Phrase[] {
  const open = text.replaceAll('\n', ' ').replace(QUOTED, (quoted) => '"'.repeat(quoted.length));
  const phrases: Phrase[] = [];
  for (const { parameter, pattern, read, role } of PATTERNS) {
    for (const match of open.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      const before = open.slice(Math.max(0, start - AROUND), start);
      const value = NEGATED.test(before) ? undefined : read(match, before, open.slice(end, end + AROUND));
      if (value !== undefined) phrases.push({ parameter, value, words: match[0].trim(), role, start, end });
    }
  }
  return phrases.sort((a, b) => a.start - b.start);
}

// Prices

const COUNTS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twenty: 20,
  fifty: 50,
};
const PARTS: Readonly<Record<string, number>> = {
  half: 2,
  third: 3,
  quarter: 4,
  fifth: 5,
  tenth: 10,
  hundredth: 100,
  thousandth: 1000,
};
const listNames = (words: object) => Object.keys(words).join('|');

/** A number with its unit: $0.01, 1¢, USD 0.01, 1/10 of a cent; or an amount in words: two cents, a tenth of a cent. */
const NUMBER = String.raw`\d{1,4}\/\d{1,4}|\d{1,10}(?:[.,]\d{1,8})?|[.,]\d{1,8}`;
const UNIT = String.raw`usdc?|(?:us )?dollars?|bucks?|\$|¢|c|cts?|(?:us )?cents?|penn(?:y|ies)`;
const IN_DIGITS = String.raw`(?:(?<sign>(?:us)?\$|usdc?) ?)?(?<number>${NUMBER})(?:(?: of an?)? ?(?<unit>${UNIT}))?`;
const IN_WORDS = `(?:(?<count>${listNames(COUNTS)}) )?(?:(?<part>${listNames(PARTS)})s? (?:of )?(?:an? |one )?)?(?<named>${UNIT})`;

/** Words for the price of a call. "Price" after another noun is part of the search, and stays in the text: "token prices". */
const PRICE_OF_CALL =
  String.raw`(?:(?:(?:an?|my|our|the) )?max(?:imum)?[ _]|(?:an?|my|our|the) |(?<=(?:^|[,;:.(?!]|\b(?:at|with|whose)) ?))(?:price|cost)(?:_usdc)?(?: (?:cap|limit|of|is|at))?` +
  '|(?:(?:an?|my|our|the) )?(?:priced|costs|costing|budget|spend(?:ing)?|charg(?:e|es|ing)|cap|capped|limit|ceiling)(?: (?:cap|limit))?(?: (?:of|is|at))?';
const AT_MOST =
  String.raw`(?:(?:do|can|should|must|will) ?not|(?:do|ca|should|must|wo)n['’]?t|never|nothing|not|no)(?: \w{1,12}){0,4} (?:over|above|exceed|(?:more|higher) than)` +
  String.raw`|under|below|(?:less|cheaper|lower) than|at (?:the )?most|up ?to|(?:a )?max(?:imum|\.)?(?: of)?:?|within|sub[ -]?|<=?|≤`;
const OR_LESS =
  'or (?:less|under|below|cheaper|lower)|max(?:imum)?|at (?:the )?most|tops|(?:is (?:my|our|the) )?(?:budget|limit|cap|max)';
const A_CALL = String.raw` ?(?:(?:\/ ?|per |an? |each |every |one )(?:api )?(?:call|request|req|query|lookup|use|run)|each time|apiece)`;

const PRICE = [
  String.raw`(?<![\w.,$€£/-])(?:(?<price>${PRICE_OF_CALL})(?:[ :=]{1,3}|(?=[<≤]))|(?<=\b(?<noun>prices?|cost)[ :=]{1,3})|)(?:(?<most>${AT_MOST}) ?)?`,
  String.raw`(?:${IN_DIGITS}|${IN_WORDS})(?<call>${A_CALL})?(?: (?<less>${OR_LESS}))?(?<callAfter>${A_CALL})?(?![\w€£%]|[.,/-]\d)`,
].join('');

/** Words before a price that make it no upper limit: "over $1". */
const OVER_BEFORE = /\b(?:over|above|than|least|exceeds?|min(?:imum)?|from|between)(?: of)? ?$/i;
/** Words before and after the price of something other than a call: "coins under $0.01", "5 cents off", "send $1". */
const OTHER_BEFORE =
  /\b(?:coins?|tokens?|stocks?|shares?|nfts?|fees?|gas|airdrops?|donations?|swaps?|transfers?|shipping|drops?|falls?|trades?|worth)(?: (?:for|of|at|is|to))? ?$/i;
const OTHER_AFTER =
  /^ ?(?:\/|per\b|an? (?:night|day|week|month|year|hour|word|page|share)\b|(?:to|in) \w|(?:coins?|tokens?|stocks?|shares?|cashback|off|deviation)\b)/i;
const MOVED_BEFORE = /\b(?:send|pay|transfer|swap|convert|buy|sell|bet|of|is|to) $/i;

/** Highest amount that counts as the price of a call if the words do not speak of calls, in atomic USDC. */
const PRICE_MOST = 2_000_000;

/** Returns the highest price of a call, as a decimal amount of USDC. */
function readPrice({ groups = {} }: RegExpExecArray, before: string, after: string): string | undefined {
  const { sign, number, unit, count, part, named, most, less } = groups;
  const call = groups.call ?? groups.callAfter;
  const price = groups.price ?? groups.noun;
  const isLimit = [price, most, call, less].some((words) => words !== undefined);
  // A number without a unit is a price only if the words say so; a "c" may be degrees.
  if (number && !sign && !unit && !(price && /[.,]/.test(number))) return undefined;
  if (/^c$/i.test(unit ?? named ?? '') && !price && !call) return undefined;
  if (named && !(isLimit && (count || part || /^sub/i.test(most ?? '')))) return undefined;
  if (OVER_BEFORE.test(before) || (!isLimit && MOVED_BEFORE.test(before))) return undefined;
  if (!call && (OTHER_BEFORE.test(before) || OTHER_AFTER.test(after))) return undefined;
  const [top = '1', bottom = '1'] = (number ?? '1').split('/');
  const isCents = /^(?:us )?(?:¢|c|p)/i.test(unit ?? named ?? '');
  if (isCents && sign) return undefined;
  const whole = parseUsdc(readTypedPrice(isCents ? `${top}c` : top)) ?? 0;
  const times = COUNTS[count?.toLowerCase() ?? 'one'] ?? 1;
  const atomic = Math.floor((whole * times) / (Number(bottom) * (PARTS[part?.toLowerCase() ?? ''] ?? 1)));
  const isPrice = atomic > 0 && Number.isSafeInteger(atomic) && (call !== undefined || atomic <= PRICE_MOST);
  return isPrice ? formatUsdc(atomic) : undefined;
}

// Networks

const NETWORK = String.raw`(?<network>[a-z\d]{2,40}(?::[a-z\d]{1,40})?(?: mainnet)?)\b`;
const PAID_ON =
  '(?:(?:in|with|takes?|taking|accepts?) )?usdc (?:on|via)|pay(?:ing|s)? (?:with|in|w/)|on|via|through|over|using|accept(?:s|ing)?|tak(?:es?|ing)|support(?:s|ing)?|with|in';
const CHAIN = '(?: (?:network|chain|blockchain))?(?: only)?';
const ONLY = '[ -](?:only|network|chain|blockchain|mainnet|(?:based )?payments?)';

/** A second network beside the first: "on Base or Solana". */
const OR_NETWORK = /^,? (?:or|and) (\w{2,40})/i;

/** Returns the network that is named. A network whose name is also an ordinary word counts only after words such as "on". */
function readNetwork({ groups = {} }: RegExpExecArray, before: string, after: string): string | undefined {
  const network = findNamedNetwork(groups.network ?? '');
  const isMeant = groups.where
    ? !/^(?:in|with)$/i.test(groups.where) && !/\bbased $/i.test(before)
    : /(?:^|[,;:.(]|\b(?:the|only|my)) ?$/i.test(before);
  const isOneOfTwo = findNamedNetwork(OR_NETWORK.exec(after)?.[1] ?? '') !== undefined;
  return network && !isOneOfTwo && (!network.isWord || isMeant) ? network.key : undefined;
}

// Hosts

const HOST = String.raw`(?<host>(?:[a-z\d][a-z\d-]{0,62}\.){1,8}[a-z]{2,24}(?::\d{1,5})?)(?![\w@-]|\.\w)`;
const POINTED_AT = String.raw`(?:\b(?:from|at|on|via|by|using|use|calling|call) (?:https?:\/\/)?|\bhttps?:\/\/)${HOST}`;

const readHost: Pattern['read'] = ({ groups }) => groups?.host?.toLowerCase();

// All patterns

const SORTED_BY = String.raw`(?:sort|order|rank)(?:ed)?(?: \w{1,12}){0,2} by (?:the )?`;
const FIRST = '(?: ones?)?(?: first)?';
/** Things that "verified" and the orders are said of outside this catalogue, in requests too. */
const CHECKED =
  'accounts?|users?|badges?|e-?mails?|contracts?|source|code|twitter|instagram|reviews?|profiles?|address(?:es)?|phone|hosts?|claims?|identit(?:y|ies)|oil|recipes?|methods?';
const GOODS =
  'flights?|hotels?|cars?|cit(?:y|ies)|places?|rooms?|tickets?|fares?|restaurants?|housing|gas|petrol|fuel|electricity|bridge|way to|growing|trading|marathon|trains?|posts|tweets|papers|videos|movies|songs|i?phones?|tokens?|coins?|packages|versions?|used|of';
const NOT_OF_CHARGE = 'cash|stock|text|trials?|tiers?|throws?|time|speech|will|market|to|rooms?|slots?|agents?|space';
const NOT_FREE = 'royalty|gluten|sugar|tax|duty|toll|hands|ad|feel|is|are|am|you|we|they';

const PATTERNS: readonly Pattern[] = [
  build('max_price_usdc', PRICE, readPrice, 'left out'),
  name(
    'max_price_usdc',
    '0',
    "(?:for )?free(?: of charge)?|(?:at )?no charge|(?:does ?n['’]?t|does not|do ?n['’]?t|do not)(?: want to)? (?:cost|pay)(?: for)? (?:anything|a thing|money)",
    NOT_OF_CHARGE,
    NOT_FREE,
  ),
  build('network', String.raw`\b(?:only )?(?<where>${PAID_ON}) (?:the |my )?${NETWORK}${CHAIN}`, readNetwork),
  build('network', String.raw`\b(?:only )?${NETWORK}${ONLY}\b(?: only)?`, readNetwork),
  build('network', String.raw`\b(?<where>network|chain)(?: is )?[ :=]{1,3}${NETWORK}`, readNetwork),
  build('network', `(?<=^|[,;:.] )(?:only )?${NETWORK}(?= ?(?:[,;:.]|$))`, readNetwork),
  name('verified', 'true', '(?:only |settlement[ -]|payment[ -])?(?:verified|proven)(?: only)?', CHECKED, CHECKED),
  name('verified', 'true', 'tested (?:apis?|endpoints?|services?|providers?|sellers?|ones?)'),
  name('verified', 'true', '(?:tested|proven) (?:by|with) (?:an? )?(?:real |actual |successful )?payments?'),
  name('verified', 'true', "you(?:['’]ve)?(?: have| already| actually| really){0,3} paid (?:for|and tested)"),
  name('sort', 'price', `(?:the )?cheapest${FIRST}|least expensive|most affordable`, GOODS),
  name('sort', 'price', '(?:lowest|best)[ -](?:possible )?(?:priced?|costs?)|as cheap as possible', GOODS),
  name('sort', 'price', 'cheap|inexpensive|affordable|low[ -]cost', GOODS),
  name('sort', 'price', `${SORTED_BY}(?:lowest )?(?:price|cost)`, 'highest|most expensive|desc(?:ending)?'),
  name('sort', 'reliability', 'most (?:reliable|dependable|trustworthy|stable)', GOODS),
  name('sort', 'reliability', `(?:highest|best) (?:reliability|uptime)|${SORTED_BY}(?:reliability|uptime)`),
  name('sort', 'latency', `(?:fastest|quickest|most responsive)(?: response times?)?${FIRST}`, `${GOODS}|route`),
  name('sort', 'latency', '(?:lowest|low|least|best)[ -]latency|(?:shortest|lowest|best) response times?', GOODS),
  name('sort', 'latency', `${SORTED_BY}(?:latency|speed|response time)`),
  name('sort', 'updated', `(?:newest|freshest)${FIRST}`, GOODS),
  name('sort', 'updated', `(?:most )?recently (?:updated|changed|added|listed)${FIRST}`, GOODS),
  name('sort', 'updated', `latest (?:apis?|endpoints?|services?|listings?)|${SORTED_BY}(?:date|recency|newest)`),
  build('host', POINTED_AT, readHost),
  // Any text with a dot may look like a host, such as node.js, so its words weigh as much as others.
  build('host', String.raw`(?<![\w@./-])${HOST}`, readHost, 'plain'),
];

function build(
  parameter: Suggestion['parameter'],
  source: string,
  read: Pattern['read'],
  role: Pattern['role'] = 'lesser',
): Pattern {
  return { parameter, pattern: new RegExp(source, 'gi'), read, role };
}

/** Builds the pattern of words that name one value, unless words before or after them change the meaning. */
function name(
  parameter: Suggestion['parameter'],
  value: string,
  words: string,
  after?: string,
  before?: string,
): Pattern {
  const isOther = after === undefined ? undefined : new RegExp(`^,?[ -](?:${after})(?!\\w)`, 'i');
  const isOfOther = before === undefined ? undefined : new RegExp(`\\b(?:${before})[ -](?:is |are |was |were )?$`, 'i');
  return build(parameter, `(?<![\\w-])(?:${words})(?![\\w-])`, (_match, textBefore, textAfter) =>
    isOther?.test(textAfter) || isOfOther?.test(textBefore) ? undefined : value,
  );
}
