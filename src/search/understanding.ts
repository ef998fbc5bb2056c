import { distance } from 'fastest-levenshtein';
import table from '../../data/words/filters.json' with { type: 'json' };
import subjects from '../../data/words/subjects.json' with { type: 'json' };
import { findNamedNetwork, type Network, type NetworkKey, networkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { USDC_DECIMALS } from '../model/usdc.ts';
import { STOP_WORDS } from './stop-words.ts';
import { getWordVectors } from './vectors.ts';
import { getStem } from './words.ts';

/** A filter or order of the list that a request says in words. */
export type Said =
  /** Atomic USDC. */
  | { readonly filter: 'max_price_usdc'; readonly value: number }
  | { readonly filter: 'network'; readonly value: NetworkKey }
  | { readonly filter: 'verified'; readonly value: boolean }
  | { readonly filter: 'band'; readonly value: 'established' | 'thin' | 'unscored' }
  | { readonly filter: 'sort'; readonly value: 'price' | 'reliability' | 'updated' | 'latency' | 'proof' }
  | { readonly filter: 'host' | 'path'; readonly value: string };

/** A filter with the words that said it, as they are in the request: more than one piece where it was said twice. */
export type SaidFilter = Said & { readonly words: readonly string[] };

/** What a request says. */
export interface ParsedRequest {
  /** One of a kind at most. */
  readonly filters: readonly SaidFilter[];
  /** What remains to search with; may be empty. */
  readonly text: string;
}

/** What the catalogue says of words. */
export interface Known {
  /** Says whether there is a live listing on a host, with a route at a path if one is given; a path alone is of any host. */
  isListed(host: string | undefined, path: string | undefined): boolean;
  /** Says whether a live listing has a word. */
  isKnown(word: string): boolean;
}

/**
 * Parses what a request in plain English says beyond its subject, by the table of patterns below. A wrong filter hides the
 * right answer, so words in doubt stay in the text; words between double quotes always do. Filters of one kind that
 * contradict each other are in doubt, too. Takes time in proportion to the length of the text.
 */
export function parseRequest(text: string, known: Known): ParsedRequest {
  const context = openContext(text, known);
  const { tokens } = context;
  const certain = listAllPhrases(context);
  // Where one filter is certain, the request is for APIs: then others are less in doubt.
  const phrases = certain.length === 0 ? certain : listAllPhrases({ ...context, isForApis: true });
  const values = new Map<string, Set<Said['value']>>();
  for (const { said } of phrases) values.set(said.filter, (values.get(said.filter) ?? new Set()).add(said.value));
  const isAgreed = (filter: Said['filter']) => (values.get(filter)?.size ?? 0) <= 1;
  // The path of one of two hosts is as much in doubt as they are.
  const agreed = phrases.filter(({ said: { filter } }) => isAgreed(filter) && (filter !== 'path' || isAgreed('host')));
  const filters = new Map<string, Said & { words: string[] }>();
  for (const { said, from, to } of agreed) {
    const entry = filters.get(said.filter) ?? { ...said, words: [] };
    entry.words.push(text.slice(tokens[from]?.start, tokens[to - 1]?.end));
    filters.set(said.filter, entry);
  }
  return { filters: [...filters.values()], text: cutPhrases(text, tokens, agreed) };
}

function listAllPhrases(context: Context): Phrase[] {
  const phrases: Phrase[] = [];
  for (let at = 0; at < context.tokens.length; ) {
    const found = context.tokens[at]?.isQuoted ? [] : listPhrases(context, at);
    phrases.push(...found);
    at = Math.max(at + 1, found[0]?.to ?? 0);
  }
  return phrases;
}

/** A filter said by the tokens `from` up to before `to`. */
interface Phrase {
  readonly said: Said;
  readonly from: number;
  readonly to: number;
}

// Words

/** A word of the request without the punctuation around it. */
interface Token {
  readonly text: string;
  /** In small letters, and as it was probably meant where it is misspelt. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Whether punctuation, or the start of the text, comes before it. */
  readonly opens: boolean;
  readonly isQuoted: boolean;
}

interface Context {
  readonly tokens: readonly Token[];
  readonly known: Known;
  /** Whether a filter shows that the request is for APIs. */
  readonly isForApis: boolean;
  /** Lists the places of the subjects of a kind. */
  listSubjects(kind: SubjectKind): readonly number[];
}

type SubjectKind = keyof typeof subjects;

/** Stems of nouns that words of filters are said of in their own right; see `data/words/README.md`. */
const SUBJECTS = Object.fromEntries(
  Object.entries(subjects).map(([kind, lines]) => [kind, new Set(lines.join(' ').split(' ').map(getStem))]),
) as unknown as Record<SubjectKind, ReadonlySet<string>>;

function openContext(text: string, known: Known): Context {
  const tokens = listTokens(text, known);
  const found = new Map<SubjectKind, number[]>();
  const listSubjects = (kind: SubjectKind) => {
    const places = found.get(kind) ?? [...tokens.keys()].filter((at) => isSubject(tokens, at, kind));
    found.set(kind, places);
    return places;
  };
  return { tokens, known, isForApis: false, listSubjects };
}

/** Kinds of which a noun counts as an attribute, too: "the fastest car ever made". Of others it does not: "flight status". */
const ATTRIBUTES: ReadonlySet<SubjectKind> = new Set(['chain', 'transfers', 'fast', 'reliable']);

function isSubject(tokens: readonly Token[], at: number, kind: SubjectKind): boolean {
  const word = tokens[at]?.word.replace(/'s?$/, '') ?? '';
  if (!SUBJECTS[kind].has(getStem(word))) return false;
  // USDC is what calls are paid with, unless it is itself looked at: "usdc transfers".
  return (ATTRIBUTES.has(kind) && word !== 'usdc') || isNamePart(tokens[at + 1]) === (word === 'usdc');
}

const OPENING = new Set('([{"“”«\'‘,;:!?–—|-');
const CLOSING = new Set(')]}"“”»\'’.,;:!?…–—|-');
/** What a stop or colon does not part from what follows. */
const JOINED =
  /^(?:max[.:]|(?:network|chain|sort|order|verified):|(?:maximum|price|cost|budget|limit|cap):\s+[$\d.<≤])/i;

function listTokens(text: string, known: Known): Token[] {
  const quotes = Array.from(text.matchAll(/["“”]/g), ({ index }) => index);
  const tokens: Token[] = [];
  let [opens, passed] = [true, 0];
  for (const { index, 0: whole } of text.matchAll(/\S+/g)) {
    let [start, end] = [index, index + whole.length];
    while (start < end && OPENING.has(text.charAt(start)) && !/-\d/.test(text.slice(start, start + 2))) start += 1;
    while (end > start && CLOSING.has(text.charAt(end - 1))) end -= 1;
    while ((quotes[passed] ?? Number.POSITIVE_INFINITY) < start) passed += 1;
    const isQuoted = quotes.length % 2 === 0 && passed % 2 === 1;
    opens ||= start > index;
    const isPause = end < index + whole.length && !JOINED.test(text.slice(start, index + whole.length + 3));
    for (const piece of listPieces(text.slice(start, end))) {
      start = text.indexOf(piece, start);
      tokens.push({ text: piece, word: mendWord(piece, known), start, end: start + piece.length, opens, isQuoted });
      [start, opens] = [start + piece.length, false];
    }
    opens ||= isPause;
  }
  return tokens;
}

/** Divides what is written together: "low-latency", "price<=0.01", "1¢/call". */
function listPieces(whole: string): string[] {
  if (/^\p{L}+(?:-[\p{L}\d]+)+$/u.test(whole)) return whole.split('-');
  const [, name = '', sign = '', rest = whole] = /^([\p{L}_]*)(<=|[<≤=])([^=].*)$/u.exec(whole) ?? [];
  const [, amount = rest, call = ''] =
    /^((?:us)?[$\d.]\S*|¢|cents?|usdc?|dollars?)\/(call|request|req|query|lookup)$/i.exec(rest) ?? [];
  return [name, sign, amount, call].filter((piece) => piece !== '');
}

/** Returns a word in small letters. A word that nobody knows becomes the word of a pattern that is one letter away, if there is one. */
function mendWord(text: string, known: Known): string {
  const word = text.toLowerCase().replace('’', "'");
  if (!/^[A-Z]?[a-z]{3,14}$/.test(text) || word.length < 4 || KEYWORDS.has(word) || known.isKnown(word)) return word;
  if (getWordVectors().findRank(getStem(word)) !== undefined) return word;
  return MENDED.find((meant) => meant.startsWith(word.charAt(0)) && distance(meant, word) === 1) ?? word;
}

// Patterns

/** Words in a row, or choices of words divided by `|`, or the name of a pattern or slot; `?` marks what may be left out. */
type Row = readonly { readonly choices: ReadonlySet<string> | string; readonly isOptional: boolean }[];

/** Where a row was found, and what its slots hold. */
interface Match {
  readonly context: Context;
  readonly from: number;
  to: number;
  amount?: Amount;
  isPerCall?: boolean;
  network?: Network;
  /** Place of the first word of the name that they are said of: "image" in "cheapest image generation". */
  name?: number;
}

const SLOTS: Readonly<Record<string, (match: Match, token: Token) => boolean>> = {
  AMOUNT(match) {
    const amount = parseAmount(match.context, match.to);
    Object.assign(match, amount && { amount, to: amount.to });
    return amount !== undefined;
  },
  NETWORK(match, { text, word }) {
    const network = findNamedNetwork(text) ?? findNamedNetwork(word);
    Object.assign(match, network && { network, to: match.to + 1 });
    return network !== undefined;
  },
  /** What follows is a name, which is not taken. */
  NAME(match, token) {
    match.name = match.to;
    return isNamePart(token);
  },
};

function makeRows(patterns: readonly string[]): Row[] {
  return patterns.map((row) =>
    row.split(' ').map((step) => {
      const name = step.replace(/\?$/, '');
      return { choices: /^[A-Z_]+$/.test(name) ? name : new Set(name.split('|')), isOptional: name !== step };
    }),
  );
}

/** Patterns that others name. */
const NAMED = new Map(Object.entries(table.names).map(([name, patterns]) => [name, makeRows(patterns)]));

/** Takes the first of some rows that comes next in a match; says whether one does. */
function takeAny(match: Match, rows: readonly Row[], mayOpen = true): boolean {
  return rows.some((row) => takeRow(match, row, mayOpen));
}

/** Takes a row without punctuation in it, but for the pause that it names, if it comes next in a match. */
function takeRow(match: Match, row: Row, isFirst = true): boolean {
  const before = match.to;
  let mayOpen = isFirst;
  for (const { choices, isOptional } of row) {
    const token = match.context.tokens[match.to];
    if (choices === 'PAUSE') {
      mayOpen = token?.opens ?? true;
      if (mayOpen || isOptional) continue;
    } else if (token && !token.isQuoted && (mayOpen || !token.opens) && takeStep(match, token, choices, mayOpen)) {
      mayOpen = false;
      continue;
    } else if (isOptional) continue;
    match.to = before;
    return false;
  }
  return match.to > before;
}

function takeStep(match: Match, token: Token, choices: Row[number]['choices'], mayOpen: boolean): boolean {
  if (typeof choices !== 'string') {
    if (choices.has(token.word)) match.to += 1;
    return choices.has(token.word);
  }
  const isTaken = SLOTS[choices]?.(match, token) ?? takeAny(match, NAMED.get(choices) ?? [], mayOpen);
  if (choices === 'PER_CALL' && isTaken) match.isPerCall = true;
  return isTaken;
}

/** Patterns with what they say; undefined where that is in doubt. */
interface Rule {
  readonly rows: readonly Row[];
  readonly say: (match: Match) => Said | undefined;
}

/** Words of directions: one that a pattern does not take is the opposite of what it says. */
const DIRECTIONS = new Set('highest lowest dearest expensive slowest oldest descending desc ascending asc'.split(' '));

const RULES: readonly Rule[] = [
  makeRule(table.price, (match) => !isAfter(match, ['priced', 'chain']) && sayPrice(match, true)),
  makeRule(table.amount, (match) => sayPrice(match, false)),
  makeRule(table.network.sure, sayNetwork),
  makeRule(table.network.accepting, (match) => !isAfter(match, ['chain', 'priced']) && sayNetwork(match)),
  makeRule(
    table.network.paying,
    (match) => !isAbout(match, 'chain') && !isAfter(match, ['placed']) && sayNetwork(match),
  ),
  makeRule(table.network.bare, (match) => isWhereOnePays(match) && sayNetwork(match)),
  makeRule(table.verified.paid, (match) => isSaidOfBefore(match) && { filter: 'verified', value: true }),
  ...([true, false] as const).flatMap((value) => [
    makeRule(
      (value ? table.verified : table.unverified).sure,
      (match) => isFollowedByNetwork(match) && { filter: 'verified', value },
    ),
    makeRule(
      (value ? table.verified : table.unverified).named,
      (match) => isOfApis(match, 'verified') && { filter: 'verified', value },
    ),
  ]),
  ...(['established', 'thin', 'unscored'] as const).map((value) =>
    makeRule([`reliability band IS? ${value}`, `${value} reliability band?`], () => ({ filter: 'band', value })),
  ),
  ...(
    [
      ['price', 'priced'],
      ['reliability', 'reliable'],
      ['latency', 'fast'],
      ['proof', 'verified'],
      ['updated', 'dated'],
    ] as const
  ).map(([value, kind]) => {
    const { rows, ...names } = table.orders[value];
    for (const [name, patterns] of Object.entries(names))
      NAMED.set(`${name}_${value.toUpperCase()}`, makeRows(patterns));
    const patterns = [...table.order, ...rows].map((row) =>
      row.replace(/\b(MOST|BY|DIRECTION)\b/g, `$1_${value.toUpperCase()}`),
    );
    return makeRule(patterns, (match) => isOfApis(match, kind) && !isTurned(match) && { filter: 'sort', value });
  }),
];

function makeRule(patterns: readonly string[], say: (match: Match) => Said | undefined | false): Rule {
  return { rows: makeRows(patterns), say: (match) => say(match) || undefined };
}

/** The words of all patterns, and those that are long enough to be recognised with one letter wrong. */
const KEYWORDS = new Set(
  [...NAMED.values(), ...RULES.map(({ rows }) => rows)]
    .flat(2)
    .flatMap(({ choices }) => (typeof choices === 'string' ? [] : [...choices])),
);
const MENDED = [...KEYWORDS, ...networkKey.options].filter((word) => word.length >= 5);

/** Lists what is said from a place on: one phrase, or for an address its host and its path, or nothing. */
function listPhrases(context: Context, at: number): Phrase[] {
  for (const { rows, say } of isTakenBack(context, at) ? [] : RULES) {
    for (const row of rows) {
      const match: Match = { context, from: at, to: at };
      if (!takeRow(match, row) || (match.name === undefined && !isEnd(context.tokens[match.to]))) continue;
      const said = say(match);
      if (said !== undefined) return [{ said, from: at, to: match.to }];
    }
  }
  return listAddress(context, at);
}

// What is meant

/** Words after which something new begins: "under 1 cent for" but not "under 1 cent coins". */
const FOLLOWERS = new Set(
  `for and with that which please but only so because when using is are i we my as thanks each payable sorted ordered ranked right now if pls thx
  accepting under below less max cheaper first`.split(/\s+/),
);
/** Such words that may also begin a place or time. */
const PLACES = new Set(
  'in on from at via by up no to over through near between along around until since against way ways'.split(' '),
);
const NEGATIONS = new Set(
  "not no non without except never isn't aren't don't doesn't isnt arent dont doesnt neither nor unless".split(' '),
);
/** Words that APIs are called by: they alone, they and others, and words that stand for anything. */
const API_NOUNS = new Set('api apis endpoint endpoints'.split(' '));
const SELLER_NOUNS = new Set('service services provider providers seller sellers feed feeds server servers'.split(' '));
const PRONOUNS = new Set('one ones something anything everything option options choice'.split(' '));

function isApi(token: Token | undefined): boolean {
  return token !== undefined && [API_NOUNS, SELLER_NOUNS, PRONOUNS].some((words) => words.has(token.word));
}

/** Says whether what ends before a word ends there for good. */
function isEnd(next: Token | undefined): boolean {
  return next === undefined || next.opens || FOLLOWERS.has(next.word) || PLACES.has(next.word);
}

/** Says whether a word belongs to a name that began before: no small word, and not after a pause. */
function isNamePart(token: Token | undefined): boolean {
  if (token === undefined || token.isQuoted) return false;
  return isApi(token) ? !token.opens : !isEnd(token) && !STOP_WORDS.has(token.word);
}

/** Says whether a word before takes back what follows, or says whose it is: "not the cheapest", "stripe's newest". */
function isTakenBack({ tokens }: Context, at: number): boolean {
  const isNegation = (token: Token | undefined) => token !== undefined && NEGATIONS.has(token.word);
  return isNegation(tokens[at - 1]) || isNegation(tokens[at - 2]) || /'s$/.test(tokens[at - 1]?.word ?? '');
}

/** Says whether the request, beside the words of a match, names a subject of a kind. */
function isAbout({ context, from, to }: Match, kind: SubjectKind): boolean {
  return context.listSubjects(kind).some((at) => at < from || at >= to);
}

/** Says whether the word before a match is a noun of one of some kinds. */
function isAfter({ context, from }: Match, kinds: readonly SubjectKind[]): boolean {
  return kinds.some((kind) => SUBJECTS[kind].has(getStem(context.tokens[from - 1]?.word ?? '')));
}

/** Says whether what a match is said of comes before it: an API, or all that was said until then. */
function isSaidOfBefore({ context: { tokens }, from }: Match): boolean {
  return tokens[from]?.opens === true || isApi(tokens[from - 1]);
}

/** Says whether, if "on" comes next, it names a network: not "verified sellers on amazon". */
function isFollowedByNetwork({ context, to }: Pick<Match, 'context' | 'to'>): boolean {
  const next = context.tokens[to];
  return next?.word !== 'on' || next.opens || takeAny({ context, from: to, to }, AFTER_NAME);
}

/** Says whether an order is turned round after a match: "highest first". */
function isTurned({ context: { tokens }, to, name }: Match): boolean {
  return name === undefined && tokens.slice(to, to + 2).some(({ word }) => DIRECTIONS.has(word));
}

function isPlural(word: string): boolean {
  return word.length > 4 && /[^siu]s$/.test(word);
}

/** Most words of a name that are read. */
const NAME_MAX = 8;
const AFTER_NAME = makeRows(['BOUND', 'ON the? NETWORK']);

/**
 * Says whether an order, or "verified", is said of APIs: of what is called so, or of a kind of work of which the catalogue has
 * a word. "Cheapest first" is said of all that the request names.
 */
function isOfApis(match: Match, kind: SubjectKind): boolean {
  const { name } = match;
  if (name === undefined) return !isAbout(match, kind);
  const to = findNameEnd(match.context.tokens, name);
  return isApi(match.context.tokens[to - 1])
    ? isNameOfApis(match, kind, name, to)
    : isNameOfWork(match, kind, name, to);
}

/** Finds the place after the last word of a name. */
function findNameEnd(tokens: readonly Token[], name: number): number {
  // The "to" of "speech to text" is inside.
  const isInside = (at: number) => tokens[at]?.word === 'to' && !tokens[at]?.opens && isNamePart(tokens[at + 1]);
  let to = name + 1;
  while (to < name + NAME_MAX && (isNamePart(tokens[to]) || isInside(to))) to += 1;
  return to;
}

/** Says whether a name that ends with a word for APIs is one of APIs, and not of what has a price (age, speed) of its own. */
function isNameOfApis(match: Match, kind: SubjectKind, name: number, to: number): boolean {
  const { tokens } = match.context;
  if (!isEnd(tokens[to]) || !isFollowedByNetwork({ context: match.context, to })) return false;
  const [last, before] = [tokens[to - 1]?.word ?? '', tokens[to - 2]?.word ?? ''];
  if (PRONOUNS.has(last)) return !isAbout(match, kind);
  return to - 1 === name || !SUBJECTS[kind].has(getStem(before)) || (API_NOUNS.has(last) && !isPlural(before));
}

/** Says whether a name is one of a kind of work. Several things are none, unless they are named by what they do (scrapers). */
function isNameOfWork({ context }: Match, kind: SubjectKind, name: number, to: number): boolean {
  const { tokens, known, isForApis } = context;
  const [last, next] = [tokens[to - 1]?.word ?? '', tokens[to]];
  const isWhole =
    next === undefined || next.opens || FOLLOWERS.has(next.word) || takeAny({ context, from: to, to }, AFTER_NAME);
  const isWork = isWhole && (isForApis || !isPlural(last) || /[eo]rs$/.test(last));
  const isThing = context.listSubjects(kind).some((at) => at >= name && at < to);
  return isWork && !isThing && (isForApis || tokens.slice(name, to).some(({ word }) => known.isKnown(word)));
}

/** The highest prices, in atomic USDC, that a call may be meant to have: where nothing says so, and where the words stand apart. */
const SMALL = { number: 100_000, amount: 2_000_000 };
/** Words between "API" and the bound. */
const BETWEEN = new Set(
  'costs costing priced cost that which must should may can at for is are charge charging'.split(' '),
);

/** Says a highest price unless it may be that of something else; `isPrice` if the words themselves speak of a price. */
function sayPrice(match: Match, isPrice: boolean): Said | undefined {
  const { from, to, amount, isPerCall } = match;
  const { tokens } = match.context;
  if (amount === undefined) return undefined;
  const said: Said = { filter: 'max_price_usdc', value: amount.value };
  let before = from - 1;
  while (before > from - 5 && BETWEEN.has(tokens[before]?.word ?? '')) before -= 1;
  if (isPerCall || isApi(tokens[before])) return said;
  const isApart = isPrice || (tokens[from]?.opens === true && (tokens[to]?.opens ?? true));
  const most = amount.unit === 'none' ? SMALL.number : SMALL.amount;
  const isClear = amount.unit === 'name' || (amount.unit === 'none' ? isApart || match.context.isForApis : isPrice);
  return isClear && amount.value <= most && !isAbout(match, 'priced') ? said : undefined;
}

/** Says whether "on Base" and the like name where payment happens, rather than what is looked at. */
function isWhereOnePays(match: Match): boolean {
  if (isAbout(match, 'chain') || isAbout(match, 'transfers') || isAfter(match, ['placed'])) return false;
  const [first, second] = match.context.tokens.slice(match.from);
  // A word that stands alone may be no name: "knowledge base only".
  const isName =
    !match.network?.isWord || first?.word !== match.network.key || first.opens || second?.word === 'mainnet';
  return isName && (match.from > 0 || match.to < match.context.tokens.length);
}

const JOINING = new Set('or and not nor but &'.split(' '));

/** Says the network unless it is one of several: "on Base or on Solana". */
function sayNetwork({ context: { tokens }, from, to, network }: Match): Said | undefined {
  const around = [tokens.slice(Math.max(0, from - 4), from).reverse(), tokens.slice(to, to + 4)];
  const isChoice = around.some(
    (side) => JOINING.has(side[0]?.word ?? '') && side.some(({ word }) => findNamedNetwork(word) !== undefined),
  );
  return network && !isChoice ? { filter: 'network', value: network.key } : undefined;
}

// Amounts

interface Amount {
  /** Atomic USDC. */
  readonly value: number;
  /** The place after it. */
  readonly to: number;
  /** `letter`: as in 5c, which may be degrees; `none`: a bare number. */
  readonly unit: 'name' | 'letter' | 'none';
}

const DOLLAR = 10n ** BigInt(USDC_DECIMALS);
const CENT = DOLLAR / 100n;
const UNITS = new Map<string, bigint>([
  ...'usdc usd us$ $ dollar dollars buck bucks'.split(' ').map((name) => [name, DOLLAR] as const),
  ...'cent cents ct cts ¢ c penny pennies'.split(' ').map((name) => [name, CENT] as const),
]);
const NUMBER =
  /^(us\$|\$)?(?:(\d{0,10})(?:([.,])(\d{1,12}))?|(\d{1,4})\/(\d{1,4}))(\$|¢|cents|cent|cts|ct|c|usdc|usd)?$/;
const NUMERALS = new Map(
  'zero one two three four five six seven eight nine ten'.split(' ').map((word, at) => [word, BigInt(at)] as const),
).set('a', 1n);
const PARTS = new Map(
  Object.entries({ half: 2n, third: 3n, quarter: 4n, fifth: 5n, tenth: 10n, hundredth: 100n, thousandth: 1000n }),
);

/** Most words before the unit: a tenth of a. */
const AMOUNT_MAX = 4;

/** Parses the amount at a place: $0.01, 2 cents, half a cent, 1/10 of a cent, USD 0.01. Sizes are exact, never floats. */
function parseAmount({ tokens }: Context, at: number): Amount | undefined {
  const getWord = (place: number) => (place > at && tokens[place]?.opens ? '' : (tokens[place]?.word ?? ''));
  const first = UNITS.get(getWord(at));
  const isBefore = first !== undefined && /^\d*[.,]?\d+$/.test(getWord(at + 1));
  const from = isBefore ? at + 1 : at;
  const number = parseNumber(getWord(from));
  const afterNumber = number ? from + 1 : from;
  const numerals = parseNumerals(getWord, at, afterNumber);
  const named = UNITS.get(getWord(numerals.to));
  const units = [isBefore ? first : undefined, number?.unit, named].filter((unit) => unit !== undefined);
  if (new Set(units).size > 1 || (units.length === 0 && (number === undefined || number.isFraction))) return undefined;
  const numerator = (number?.numerator ?? 1n) * numerals.numerator * (units[0] ?? DOLLAR);
  const value = numerator / ((number?.denominator ?? 1n) * numerals.denominator);
  if (value <= 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const isLetter = named === undefined ? number?.isLetter === true : getWord(numerals.to) === 'c';
  const unit = isLetter ? 'letter' : units.length === 0 ? 'none' : 'name';
  return { value: Number(value), to: named === undefined ? afterNumber : numerals.to + 1, unit };
}

/** Parses the numerals of an amount that begins at a place: "half a", "a tenth of a". */
function parseNumerals(getWord: (place: number) => string, at: number, from: number) {
  let [to, numerator, denominator] = [from, 1n, 1n];
  for (; to < at + AMOUNT_MAX; to += 1) {
    const word = getWord(to);
    const [numeral, part] = [NUMERALS.get(word), PARTS.get(word.replace(/s$/, ''))];
    const isJoining = to > at && (word === 'of' || word === 'us');
    if (numeral === undefined && part === undefined && !isJoining) break;
    numerator *= numeral ?? 1n;
    denominator *= part ?? 1n;
  }
  return { to, numerator, denominator };
}

/** Parses a number with its currency sign: $0.01, .01, 0,01, 1c, 1/10. Undefined for 1,000, which may mean one or a thousand. */
function parseNumber(word: string) {
  const [all, sign, whole = '', point, decimals = '', upper, lower, name] = NUMBER.exec(word) ?? [];
  if (all === undefined || (upper === undefined && whole + decimals === '')) return undefined;
  if (decimals === '' && /^0\d/.test(whole)) return undefined;
  if (point === ',' && (whole === '' || (decimals.length === 3 && whole !== '0'))) return undefined;
  const units = [sign && DOLLAR, name && UNITS.get(name)].filter((unit) => typeof unit === 'bigint');
  const denominator = lower === undefined ? 10n ** BigInt(decimals.length) : BigInt(lower);
  if (denominator === 0n || new Set(units).size > 1) return undefined;
  const numerator = BigInt(upper ?? whole + decimals);
  return { numerator, denominator, unit: units[0], isLetter: name === 'c', isFraction: upper !== undefined };
}

// Addresses

const METHODS: ReadonlySet<string> = new Set(httpMethod.options);
/** Words before an address that the request wants to call; what is read "of" an address is the subject. */
const POINTING = new Set('from at via by on use using call calling through'.split(' '));
const HOST = /^([a-z\d.-]{1,253}(?::\d{1,5})?)(\/.*)?$/;
const API_PATH = /^\/(?:api|v\d{1,3}|x402)\/[a-z{:]/;

/** Lists the host and the path of an address that a request points at, with the method before it. */
function listAddress({ tokens, known: { isListed } }: Context, at: number): Phrase[] {
  const [token, next] = [tokens[at], tokens[at + 1]];
  if (token === undefined) return [];
  const isMethod = METHODS.has(token.text) && next !== undefined && !next.opens && !next.isQuoted;
  const own = isMethod ? next.text : token.text;
  const to = isMethod ? at + 2 : at + 1;
  const isCalled = isMethod || (at === 0 && to === tokens.length);
  const say = (said: Said): Phrase => ({ said, from: at, to });
  const address = parseAddress(own);
  if (address === undefined) {
    const isPath = API_PATH.test(own.toLowerCase()) || (own.startsWith('/') && isCalled);
    return isPath && isListed(undefined, own) ? [say({ filter: 'path', value: own })] : [];
  }
  const { host, path } = address;
  const isPointed = isCalled || at === 0 || (POINTING.has(tokens[at - 1]?.word ?? '') && !token.opens);
  if (!isPointed || !isListed(host, undefined)) return [];
  const isPath = path.length > 1 && isListed(host, path);
  return [say({ filter: 'host', value: host }), ...(isPath ? [say({ filter: 'path', value: path })] : [])];
}

/** Parses an address, or a host with or without a path; undefined for anything else. */
function parseAddress(text: string): { host: string; path: string } | undefined {
  const lower = text.toLowerCase();
  const url = /^https?:\/\//.test(lower) ? URL.parse(text) : null;
  if (url) return { host: url.host, path: url.pathname + url.search };
  const [, host, path = ''] = (lower.includes('.') && HOST.exec(lower)) || [];
  return host === undefined ? undefined : { host, path: text.slice(text.length - path.length) };
}

/** Gives what remains of a text without the phrases, nor the punctuation and space where they were. */
function cutPhrases(text: string, tokens: readonly Token[], phrases: readonly Phrase[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const phrase of phrases) {
    pieces.push(text.slice(from, tokens[phrase.from]?.start));
    from = tokens[phrase.to - 1]?.end ?? from;
  }
  pieces.push(text.slice(from));
  return pieces
    .map((piece, at) => trimEnds(piece, at > 0, at < pieces.length - 1))
    .filter((piece) => piece !== '')
    .join(' ');
}

/** Trims spaces, and at the ends where something was cut punctuation, too. */
function trimEnds(piece: string, isCutBefore: boolean, isCutAfter: boolean): string {
  let [from, to] = [0, piece.length];
  const isGap = (at: number, isCut: boolean) => {
    const character = piece.charAt(at);
    return character.trim() === '' || (isCut && (OPENING.has(character) || CLOSING.has(character)));
  };
  while (from < to && isGap(from, isCutBefore)) from += 1;
  while (to > from && isGap(to - 1, isCutAfter)) to -= 1;
  return piece.slice(from, to);
}
