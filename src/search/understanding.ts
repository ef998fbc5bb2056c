import { findNetwork, type NetworkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { USDC_DECIMALS } from '../model/usdc.ts';

/** A filter or order of the list that a request says in words. */
export type Said =
  /** Atomic USDC. */
  | { readonly filter: 'max_price_usdc'; readonly value: number }
  | { readonly filter: 'network'; readonly value: NetworkKey }
  | { readonly filter: 'verified'; readonly value: true }
  | { readonly filter: 'band'; readonly value: 'established' | 'thin' | 'unscored' }
  | { readonly filter: 'sort'; readonly value: SortKey }
  | { readonly filter: 'host' | 'path'; readonly value: string };

type SortKey = 'price' | 'reliability' | 'updated';

/** A filter with the words that said it, as they are in the request: more than one piece where it was said twice. */
export type SaidFilter = Said & { readonly words: readonly string[] };

/** What a request says. */
export interface ParsedRequest {
  /** One of a kind at most. */
  readonly filters: readonly SaidFilter[];
  /** What remains to search with; may be empty. */
  readonly text: string;
}

/**
 * Parses what a request in plain English says beyond its subject. A wrong filter hides the right answer, so words in doubt
 * stay in the text; words between double quotes always do.
 *
 * - A highest price names a bound and an amount. It must be plain that the amount is the price of a call: the request says
 *   "per call" or the like, or the bound follows "API", or the amount is too small for anything that is bought in a shop, and
 *   the request names nothing with a price of its own (coins, flights, fees).
 * - A network is where payment happens only if the request is not about a blockchain, or says "payable on".
 * - An order is said of APIs: "cheapest API", "cheapest weather API", "APIs, newest first". The cheapest flights are a subject.
 * - Verified are APIs, not e-mail addresses or contracts.
 * - An address is a place only if something listed is there, and if the request points at it: "weather from api.example.com",
 *   "GET /v1/weather", or nothing else. What a screenshot is to be made of is a subject.
 *
 * Takes time in proportion to the length of the text.
 */
export function parseRequest(text: string, isListed: IsListed = () => false): ParsedRequest {
  const tokens = listTokens(text);
  const has = (words: ReadonlySet<string>) => tokens.some(({ lower }) => words.has(lower));
  const context: Context = {
    tokens,
    isAboutChain: has(CHAIN_WORDS) || tokens.some((_, at) => isUsdcItself(tokens, at)),
    isAboutPrices: has(PRICED_THINGS),
    isAboutPaying: has(PAYING_WORDS) || has(API_NOUNS),
    isTransfer: has(TRANSFER_WORDS),
  };
  const phrases: Phrase[] = [];
  for (let at = 0; at < tokens.length; ) {
    const found = tokens[at]?.isQuoted ? [] : listPhrases(context, at, isListed);
    phrases.push(...found);
    at = Math.max(at + 1, found[0]?.to ?? 0);
  }
  const agreed = listAgreed(phrases);
  return {
    filters: listFilters(text, tokens, agreed),
    text: cutPhrases(text, tokens, agreed),
  };
}

/** Says whether the catalogue has a live listing on a host, with a route at a path if one is given; a path alone is of any host. */
export type IsListed = (host: string | undefined, path: string | undefined) => boolean;

/** A word of the request without the punctuation around it. */
interface Token {
  readonly text: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
  /** Whether punctuation, or the start of the text, comes before it. */
  readonly opens: boolean;
  readonly isQuoted: boolean;
}

/** A filter said by the tokens `from` up to before `to`. */
interface Phrase {
  readonly said: Said;
  readonly from: number;
  readonly to: number;
}

interface Reader {
  readonly tokens: readonly Token[];
}

interface Context extends Reader {
  readonly isAboutChain: boolean;
  readonly isAboutPrices: boolean;
  readonly isAboutPaying: boolean;
  readonly isTransfer: boolean;
}

const OPENING = new Set('([{"“”«\'‘,;:!?–—|');
const CLOSING = new Set(')]}"“”»\'’.,;:!?…–—|');
const QUOTES = /["“”]/g;
/** Words that a stop or colon does not part from what follows. */
const JOINED = new Set(['max.', 'max:', 'maximum:', 'max price:', 'max cost:', 'maximum price:', 'maximum cost:']);

function listTokens(text: string): Token[] {
  const quotes = Array.from(text.matchAll(QUOTES), ({ index }) => index);
  const isPaired = quotes.length % 2 === 0;
  const tokens: Token[] = [];
  let [isOpen, passed] = [true, 0];
  for (const { index, 0: word } of text.matchAll(/\S+/g)) {
    let [start, end] = [index, index + word.length];
    while (start < end && OPENING.has(text.charAt(start))) start += 1;
    while (end > start && CLOSING.has(text.charAt(end - 1))) end -= 1;
    while ((quotes[passed] ?? Number.POSITIVE_INFINITY) < start) passed += 1;
    const opens = isOpen || start > index;
    const own = text.slice(start, end);
    const ending = text.slice(start, index + word.length).toLowerCase();
    const isJoined = JOINED.has(ending) || JOINED.has(`${tokens.at(-1)?.lower} ${ending}`);
    isOpen = end < index + word.length && !isJoined;
    if (start === end) continue;
    const isQuoted = isPaired && passed % 2 === 1;
    tokens.push({ text: own, lower: own.toLowerCase().replace('’', "'"), start, end, opens, isQuoted });
  }
  return tokens;
}

/** Lists what is said from a place on: one phrase, or for an address its host and its path, or nothing. */
function listPhrases(context: Context, at: number, isListed: IsListed): Phrase[] {
  const phrase =
    findPrice(context, at) ??
    findPayingNetwork(context, at) ??
    findVerified(context, at) ??
    findBand(context, at) ??
    findSort(context, at);
  return phrase ? [phrase] : listAddress(context, at, isListed);
}

/** Lists the phrases of each kind of filter unless they contradict each other: then it is in doubt what was meant. */
function listAgreed(phrases: readonly Phrase[]): Phrase[] {
  const values = new Map<string, Set<Said['value']>>();
  for (const { said } of phrases) values.set(said.filter, (values.get(said.filter) ?? new Set()).add(said.value));
  const isAgreed = (filter: Said['filter']) => (values.get(filter)?.size ?? 0) <= 1;
  // The path of one of two hosts is as much in doubt as they are.
  return phrases.filter(({ said: { filter } }) => isAgreed(filter) && (filter !== 'path' || isAgreed('host')));
}

/** Words, or choices of words divided by `|`, in a row. `?` marks one that may be left out. */
type Row = readonly { readonly choices: ReadonlySet<string>; readonly isOptional: boolean }[];

function makeRow(row: string): Row {
  return row.split(' ').map((word) => ({
    choices: new Set(word.replace('?', '').split('|')),
    isOptional: word.endsWith('?'),
  }));
}

/** Gives the place after a row of words that begins at a place, with no punctuation in it; undefined where it does not. */
function skipRow({ tokens }: Reader, at: number, row: Row): number | undefined {
  let next = at;
  for (const { choices, isOptional } of row) {
    const token = tokens[next];
    const isThere = token !== undefined && choices.has(token.lower) && (next === at || !token.opens) && !token.isQuoted;
    if (isThere) next += 1;
    else if (!isOptional) return undefined;
  }
  return next > at ? next : undefined;
}

function skipAnyRow(reader: Reader, at: number, rows: readonly Row[]): number | undefined {
  for (const row of rows) {
    const next = skipRow(reader, at, row);
    if (next !== undefined) return next;
  }
  return undefined;
}

function makeSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

const API_NOUNS = makeSet('api apis endpoint endpoints');

/** Words that may follow a phrase without making it part of something else: "under 1 cent for" but not "under 1 cent coins". */
const FOLLOWERS = makeSet(`
  for on and with that which please in from via if but only so because when using is are i we my the as thanks each payable sorted
  verified
`);

const NEGATIONS = makeSet(
  "not no non without except never isn't aren't don't doesn't isnt arent dont doesnt neither nor unless",
);

/** Says whether what ends before a place ends there for good: a pause, the end, or a word that begins something new. */
function isEnd(reader: Reader, to: number): boolean {
  const next = reader.tokens[to];
  return next === undefined || next.opens || FOLLOWERS.has(next.lower) || skipAnyRow(reader, to, BOUNDS) !== undefined;
}

/** Says whether a word before a place takes back what follows. */
function isNegated({ tokens }: Reader, at: number): boolean {
  return [tokens[at - 1], tokens[at - 2]].some((token) => token !== undefined && NEGATIONS.has(token.lower));
}

function isApiNoun({ tokens }: Reader, at: number): boolean {
  return API_NOUNS.has(tokens[at]?.lower ?? '');
}

// Price

const BOUNDS = [
  'under|below',
  'less|cheaper|lower than',
  'no|not more|higher than',
  'not over|above|exceed|exceeding',
  'not cost|pay|spend more than',
  'max|maximum price|cost of|is?',
  'at most|max',
  'a? max|maximum of?',
  'up to',
  'upto',
  '<|<=|≤',
].map(makeRow);
const BOUNDS_AFTER = ['or less|under|below|cheaper|lower', 'max|maximum|tops', 'at most'].map(makeRow);
const PER_CALL = ['per|a|an|each|every api? call|request|req|query|lookup|invocation|hit|use'].map(makeRow);
const CALLS = makeSet('call request req query lookup');

/** Words that belong to the bound where they stand before it. */
const COSTING = makeSet('costs costing priced');
/** Words between "API" and the bound. */
const BETWEEN = makeSet('costs costing priced cost that which must should may can at for is are');
/** Words that say of a bare number that it is a price. */
const PRICE_WORDS = makeSet('price cost costs costing priced pay paying charge charges');

/** The highest amount, in atomic USDC, that can only be meant for a call: nothing in a shop costs as little. */
const SMALL = 100_000;

/** Things with a price of their own. */
const PRICED_THINGS = makeSet(`
  coin coins token tokens memecoin memecoins altcoin altcoins stock stocks share shares nft nfts crypto bitcoin btc eth ether sol
  flight flights hotel hotels ticket tickets room rooms product products item items goods deal deals game games skin skins rent
  rental rentals house houses home homes flat flats apartment apartments car cars phone phones laptop laptops gas fuel petrol diesel
  electricity energy power fee fees slippage spread spreads bet bets odds wine wines book books meal meals restaurant restaurants
  coupon coupons gift gifts trade trades trading transfer transfers transaction transactions swap swaps payment payments purchase
  purchases order orders invoice invoices market markets contract contracts position positions option options ad ads click clicks
  cpc bid bids postage stamp stamps shipping pool pools tariff tariffs kwh premium premiums penny pennies peg depeg
  deviation discount discounts candy candies toy toys donation donations tip tips tax taxes wage wages salary salaries interest
  airdrop airdrops mint mints minting collectible collectibles gold silver oil dividend dividends sell sells selling sold buy buys
  buying bought auction auctions prize prizes coffee chocolate snack snacks cashback polymarket kalshi doge xrp ada
  usdt dai worth alert alerts drops drop falls fall fell dips crosses goes
`);

function findPrice(context: Context, at: number): Phrase | undefined {
  const { tokens } = context;
  const attached = /^(?:<=|<|≤)(?=[^=])/.exec(tokens[at]?.lower ?? '')?.[0].length ?? 0;
  const afterBound = attached > 0 ? at : skipAnyRow(context, at, BOUNDS);
  if (afterBound !== undefined && isNegated(context, at)) return undefined;
  const amount = parseAmount(context, afterBound ?? at, attached);
  if (!amount || (afterBound !== undefined && afterBound > at && tokens[afterBound]?.opens)) return undefined;
  let { to, isPerCall } = amount;
  const take = (rows: readonly Row[]) => {
    const next = tokens[to]?.opens ? undefined : skipAnyRow(context, to, rows);
    to = next ?? to;
    return next !== undefined;
  };
  isPerCall = take(PER_CALL) || isPerCall;
  if (afterBound === undefined) {
    if (!take(BOUNDS_AFTER)) return undefined;
    isPerCall = take(PER_CALL) || isPerCall;
  }
  if (!isEnd(context, to)) return undefined;

  const isCosting = COSTING.has(tokens[at - 1]?.lower ?? '') && !tokens[at]?.opens;
  const from = isCosting ? at - 1 : at;
  if (!isPerCall && !followsApi(context, at)) {
    if (context.isAboutPrices || amount.value > SMALL || amount.unit === 'letter') return undefined;
    const isAlone = tokens[from]?.opens === true && (tokens[to]?.opens ?? true);
    if (amount.unit === 'none' && !isAlone && !PRICE_WORDS.has(tokens[at - 1]?.lower ?? '')) return undefined;
  }
  return { said: { filter: 'max_price_usdc', value: amount.value }, from, to };
}

/** Says whether a bound at a place is said of an API: "APIs that cost less than". */
function followsApi(context: Context, at: number): boolean {
  let before = at - 1;
  while (before > at - 5 && BETWEEN.has(context.tokens[before]?.lower ?? '')) before -= 1;
  return isApiNoun(context, before);
}

interface Amount {
  /** Atomic USDC. */
  readonly value: number;
  /** The place after it. */
  readonly to: number;
  /** `letter`: as in 5c, which may be degrees; `none`: a bare number. */
  readonly unit: 'name' | 'letter' | 'none';
  /** Whether it is written as $0.01/call. */
  readonly isPerCall: boolean;
}

const DOLLAR = 10n ** BigInt(USDC_DECIMALS);
const CENT = DOLLAR / 100n;
const UNITS = new Map<string, bigint>([
  ...['usdc', 'usd', 'dollar', 'dollars', '$'].map((name) => [name, DOLLAR] as const),
  ...['cent', 'cents', 'ct', 'cts', '¢', 'c'].map((name) => [name, CENT] as const),
]);
const NUMBER =
  /^(us\$|\$)?(?:(\d{0,10})(?:([.,])(\d{1,12}))?|(\d{1,4})\/(\d{1,4}))(\$|¢|cents|cent|cts|ct|c|usdc|usd)?$/;
const NUMERALS = new Map(
  ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].map((word, at) => [
    word,
    BigInt(at + 1),
  ]),
);
const FRACTIONS = new Map(
  Object.entries({ half: 2n, third: 3n, quarter: 4n, fifth: 5n, tenth: 10n, hundredth: 100n, thousandth: 1000n }),
);
const ARTICLE = makeRow('a|one');
const OF = makeRow('of? a|one?');

/** Parses the amount at a place, of whose first token some characters are passed over. Sizes are exact, never floats. */
function parseAmount(reader: Reader, at: number, passed: number): Amount | undefined {
  const { tokens } = reader;
  const { word = '', isPerCall = false } = splitCall(tokens[at]?.lower.slice(passed));
  const number = parseNumber(word);
  const spelt = number ? undefined : parseSpelt(reader, at);
  if (!number && !spelt) return undefined;
  const { numerator, denominator } = number ?? (spelt as Fraction);
  let to = spelt?.to ?? at + 1;
  if (number?.isFraction) to = skipRow(reader, to, OF) ?? to;
  const next = isPerCall || tokens[to]?.opens ? {} : splitCall(tokens[to]?.lower);
  const named = UNITS.get(next.word ?? '');
  if ((spelt || number?.isFraction) && named === undefined && number?.unit === undefined) return undefined;
  const unit = number?.unit;
  if (unit !== undefined && named !== undefined && unit !== named) return undefined;
  const value = (numerator * (unit ?? named ?? DOLLAR)) / denominator;
  if (value <= 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const isLetter = named === undefined ? number?.isLetter === true : next.word === 'c';
  return {
    value: Number(value),
    to: named === undefined ? to : to + 1,
    unit: isLetter ? 'letter' : (unit ?? named) === undefined ? 'none' : 'name',
    isPerCall: isPerCall || (named !== undefined && next.isPerCall === true),
  };
}

/** Splits what is written together: 1¢/call. */
function splitCall(word: string | undefined): { word?: string; isPerCall?: boolean } {
  const at = word?.indexOf('/') ?? -1;
  if (word === undefined || at < 0 || !CALLS.has(word.slice(at + 1))) return word === undefined ? {} : { word };
  return { word: word.slice(0, at), isPerCall: true };
}

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Parses a number with its currency sign: $0.01, .01, 0,01, 1c, 1/10. Undefined for 1,000, which may mean one or a thousand. */
function parseNumber(
  word: string,
): (Fraction & { unit: bigint | undefined; isLetter: boolean; isFraction: boolean }) | undefined {
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

/** Parses an amount in words: a cent, two cents, half a cent, a tenth of a cent. */
function parseSpelt(reader: Reader, at: number): (Fraction & { to: number }) | undefined {
  const afterArticle = skipRow(reader, at, ARTICLE);
  const fraction = FRACTIONS.get(reader.tokens[afterArticle ?? at]?.lower ?? '');
  if (fraction !== undefined) {
    const to = (afterArticle ?? at) + 1;
    return { numerator: 1n, denominator: fraction, to: skipRow(reader, to, OF) ?? to };
  }
  const numeral = NUMERALS.get(reader.tokens[at]?.lower ?? '');
  if (numeral !== undefined) return { numerator: numeral, denominator: 1n, to: at + 1 };
  return afterArticle === undefined ? undefined : { numerator: 1n, denominator: 1n, to: afterArticle };
}

// Network

/** Words of requests about a blockchain, or on a subject: there "on Base" says what is looked at, not where payment happens. */
const CHAIN_WORDS = makeSet(`
  token tokens coin coins memecoin memecoins altcoin altcoins stablecoin stablecoins wallet wallets nft nfts collectible collectibles
  swap swaps dex dexes dexs defi rpc node nodes contract contracts transaction transactions tx txs txn txns transfer transfers
  balance balances holder holders holdings mint mints minted minting minter pool pools liquidity yield yields airdrop airdrops gas
  fee fees address addresses block blocks blockchain blockchains chains onchain on-chain staking stake staked pump pump.fun
  launch launches launched launchpad launching whale whales trader traders trade trades trading traded bridge bridges bridging
  validator validators crypto cryptocurrency ethereum eth evm bitcoin btc sol usdt tvl apy apr lending loan loans borrow
  protocol protocols explorer basescan solscan mev arbitrage portfolio portfolios ens basename basenames deploy deploys deployed
  deploying deployment deployments deployer price prices volume market markets supply sniper snipe rug rugpull honeypot approval
  approvals allowance allowances abi dapp dapps dao daos governance treasury account accounts activity perp perps perpetuals
  oracle oracles payments payment merchant merchants facilitator facilitators spl erc20 erc-20 erc721 program programs smart
  signer stats statistics tps mempool slot slots epoch jupiter raydium uniswap aerodrome farcaster zora degen meme memes
  polygon arbitrum optimism tron money agents hot trending new gainers losers listed listings app apps project projects ecosystem
  developer developers builder builders build building game games gaming art artists users usage adoption revenue growth earn names
  news report reports research sentiment tweets tweet opinion opinions data info information article articles analysis insight
  insights update updates intel intelligence trends narrative narratives alpha happening history metric metrics events hackathon
  hackathons grants status health congestion outage outages guide tutorial tutorials course documentation docs book books podcast
`);

/** Words that show that a request speaks of paying, or of APIs. */
const PAYING_WORDS = makeSet('payable usdc x402 network chain mainnet');
/** Words of requests to pay somebody: what is then "on Base" is that payment. */
const TRANSFER_WORDS = makeSet('pay pays paying paid send sends sent sending receive invoice invoices donate tip');

const ON_NETWORK = ['on|via|over the?', 'only on the?', 'runs|running|available on the?'].map(makeRow);
const PAID_ON = ['payable|pay|paid|paying in|with|by? usdc? on|via|over|through the?'].map(makeRow);
const AFTER_NETWORK = makeRow('mainnet|network|chain');
const ONLY = makeRow('only');

/** Words before "on Base" that make something else of it. */
const BEFORE_ON = makeSet(
  'based depends depending built runners men man troops soldiers live living housing stationed',
);

function findPayingNetwork(context: Context, at: number): Phrase | undefined {
  const { tokens } = context;
  const paid = skipAnyRow(context, at, PAID_ON);
  const on = paid ?? skipAnyRow(context, at, ON_NETWORK);
  const name = tokens[on ?? at];
  if (!name || name.isQuoted || (on !== undefined && name.opens)) return undefined;
  const network = findNetwork(name.lower);
  if (network === undefined) return undefined;
  const afterName = (on ?? at) + 1;
  const afterKind = tokens[afterName]?.opens ? undefined : skipRow(context, afterName, AFTER_NETWORK);
  const isOnly = name.opens && tokens[afterName]?.lower === 'only' && (tokens[afterName + 1]?.opens ?? true);
  if (on === undefined && tokens[afterName]?.lower !== 'mainnet' && !isOnly) return undefined;
  const settled = afterKind ?? afterName;
  const to = (tokens[settled]?.opens === false ? skipRow(context, settled, ONLY) : undefined) ?? settled;
  if (isNegated(context, at) || !isEnd(context, to) || isChoice(context, at, to)) return undefined;
  if (tokens[at]?.lower !== 'payable') {
    if (context.isAboutChain || (context.isTransfer && paid === undefined)) return undefined;
    if (BEFORE_ON.has(tokens[at - 1]?.lower ?? '')) return undefined;
    // Runners and soldiers are "on base", too.
    const isName = name.text === network.label && tokens[(on ?? 0) - 1]?.text === tokens[(on ?? 0) - 1]?.lower;
    const isNetwork = afterKind !== undefined || isOnly || isName || context.isAboutPaying;
    if (network.isWord && name.lower === network.key && !isNetwork) return undefined;
  }
  return { said: { filter: 'network', value: network.key }, from: at, to };
}

/** Says whether a request is about USDC, rather than about paying with it: "0.01 usdc", "in usdc". */
function isUsdcItself(tokens: readonly Token[], at: number): boolean {
  if (tokens[at]?.lower !== 'usdc') return false;
  const before = tokens[at - 1]?.lower ?? '';
  return !/^[$<≤]*[\d.,/]+$/.test(before) && !['in', 'with', 'by', 'pay', 'payable', 'paid', 'paying'].includes(before);
}

const JOINING = makeSet('or and not nor but &');

/** Says whether a phrase is one of several: "on Base or on Solana". */
function isChoice({ tokens }: Reader, from: number, to: number): boolean {
  const around = [tokens.slice(Math.max(0, from - 4), from).reverse(), tokens.slice(to, to + 4)];
  return around.some(
    (side) => JOINING.has(side[0]?.lower ?? '') && side.some(({ lower }) => findNetwork(lower) !== undefined),
  );
}

// Verified

const SOLD = 'provider|providers|seller|sellers|listing|listings|service|services|route|routes';
const VERIFIED_ROWS = [
  'only? verified|proven|settlement-verified api|apis|endpoint|endpoints only?',
  `only verified|proven|settlement-verified ${SOLD}|ones`,
  `verified|proven|settlement-verified ${SOLD} only`,
  'verified|settlement-verified only',
  'only verified',
  'only? settlement-verified',
  'only? settlement verified',
].map(makeRow);
const PAID_FOR = makeRow("that|which? you|you've have? already|really|once|actually? paid for");
const PAID_THINGS = makeSet(
  'api apis endpoint endpoints one ones something anything provider providers seller sellers',
);

function findVerified(context: Context, at: number): Phrase | undefined {
  const { tokens } = context;
  const paid = skipRow(context, at, PAID_FOR);
  const isPaidThing = tokens[at]?.opens || PAID_THINGS.has(tokens[at - 1]?.lower ?? '');
  const to = paid !== undefined && isPaidThing ? paid : skipAnyRow(context, at, VERIFIED_ROWS);
  if (to === undefined || !isEnd(context, to) || isNegated(context, at)) return undefined;
  return { said: { filter: 'verified', value: true }, from: at, to };
}

// Reliability

const BANDS = ['established', 'thin', 'unscored'] as const;
const BAND_ROWS = BANDS.map((band) => ({
  band,
  rows: [`reliability band is|of? ${band}`, `${band} reliability band?`].map(makeRow),
}));

function findBand(context: Context, at: number): Phrase | undefined {
  for (const { band, rows } of BAND_ROWS) {
    const to = skipAnyRow(context, at, rows);
    if (to === undefined || !isEnd(context, to) || isNegated(context, at)) continue;
    return { said: { filter: 'band', value: band }, from: at, to };
  }
  return undefined;
}

// Order

const ORDERS = (
  [
    ['price', 'cheapest|lowest-priced|lowest-cost'],
    ['price', 'least expensive'],
    ['price', 'lowest priced'],
    ['reliability', 'most reliable|dependable'],
    ['updated', 'newest'],
    ['updated', 'most? recently updated|changed'],
  ] as const
).map(([value, row]) => ({ value, row: makeRow(row) }));

/** Kinds of work that have no price, age or reliability but that of the API that does it. */
const WORK = makeSet(`
  weather forecast ocr screenshot screenshots translation transcription speech email mail validation verification scraping scraper
  crawling geocoding search whois dns summarization sentiment image images generation qr pdf conversion extraction text web website
`);
const WORK_MAX = 3;
const FIRST = makeRow('ones? first');
/** Without "first" it is what an API may be asked: "lowest price API". */
const LOWEST_FIRST = makeRow('lowest|best price|cost first');
const SORTED = makeSet('sorted ordered ranked');
const SORT_RESULTS = makeRow('sort|order|rank the|these|all? api|apis|endpoints|results by');
const SORTED_BY = makeRow('sorted|ordered|ranked by');
const SORT_KEYS = [
  { value: 'price', row: makeRow('price|cost') },
  { value: 'reliability', row: makeRow('reliability') },
] as const;
const ASCENDING = ['lowest|cheapest first', 'ascending|asc'].map(makeRow);
const DESCENDING = makeRow('most? highest|dearest|expensive|descending|desc');

function findSort(context: Context, at: number): Phrase | undefined {
  const { tokens } = context;
  if (isNegated(context, at)) return undefined;
  const isBehindApi = isApiNoun(context, at - 1);
  const by = skipRow(context, at, SORT_RESULTS) ?? (isBehindApi ? skipRow(context, at, SORTED_BY) : undefined);
  if (by !== undefined) {
    for (const { value, row } of SORT_KEYS) {
      const key = tokens[by]?.opens ? undefined : skipRow(context, by, row);
      if (key === undefined || skipRow(context, key, DESCENDING) !== undefined) continue;
      const to = (value === 'price' ? skipAnyRow(context, key, ASCENDING) : undefined) ?? key;
      return isEnd(context, to) ? { said: { filter: 'sort', value }, from: at, to } : undefined;
    }
    return undefined;
  }
  for (const { value, row } of ORDERS) {
    const superlative = skipRow(context, at, row);
    if (superlative === undefined) continue;
    const first = tokens[superlative]?.opens ? undefined : skipRow(context, superlative, FIRST);
    if (first !== undefined) return buildFirst(context, value, at, first);
    let noun = superlative;
    while (noun < superlative + WORK_MAX && WORK.has(tokens[noun]?.lower ?? '') && !tokens[noun]?.opens) noun += 1;
    const isOfApi = isApiNoun(context, noun) && !tokens[noun]?.opens && isEnd(context, noun + 1);
    const isOwned = /['’]s$/.test(tokens[at - 1]?.lower ?? '');
    return isOfApi && !isOwned ? { said: { filter: 'sort', value }, from: at, to: superlative } : undefined;
  }
  const lowest = skipRow(context, at, LOWEST_FIRST);
  return lowest === undefined ? undefined : buildFirst(context, 'price', at, lowest);
}

/** Builds the phrase of an order such as "newest first", if it is said of APIs. */
function buildFirst(context: Context, value: SortKey, at: number, to: number): Phrase | undefined {
  const isSorted = SORTED.has(context.tokens[at - 1]?.lower ?? '');
  const from = isSorted ? at - 1 : at;
  if (!isApiNoun(context, from - 1) || !isEnd(context, to)) return undefined;
  return { said: { filter: 'sort', value }, from, to };
}

// Addresses

const METHODS: ReadonlySet<string> = new Set(httpMethod.options);
/** Words before an address that the request wants to call; what is read "of" an address is the subject. */
const POINTING = makeSet('from at via by on use using call calling through');
const HOST = /^([a-z\d.-]{1,253}(?::\d{1,5})?)(\/.*)?$/;
const API_PATH = /^\/(?:api|v\d{1,3}|x402)\/[a-z{:]/;

/** Lists the host and the path of an address that a request points at, with the method before it. */
function listAddress({ tokens }: Reader, at: number, isListed: IsListed): Phrase[] {
  const [token, next, before] = [tokens[at], tokens[at + 1], tokens[at - 1]];
  const isMethod =
    token !== undefined && METHODS.has(token.text) && next !== undefined && !next.opens && !next.isQuoted;
  const { text: own, lower } = (isMethod ? next : token) as Token;
  const to = isMethod ? at + 2 : at + 1;
  const isCalled = isMethod || (at === 0 && to === tokens.length);
  const isPointed = isCalled || at === 0 || (POINTING.has(before?.lower ?? '') && !token?.opens);
  const url = /^https?:\/\//.test(lower) ? URL.parse(own) : null;
  const [, bareHost, barePath] = (url === null && lower.includes('.') && HOST.exec(lower)) || [];
  const host = url?.host ?? bareHost;
  const say = (said: Said): Phrase => ({ said, from: at, to });
  if (host !== undefined) {
    if (!isPointed || !isListed(host, undefined)) return [];
    const path = url ? url.pathname + url.search : own.slice(own.length - (barePath?.length ?? 0));
    const isPath = path.length > 1 && isListed(host, path);
    return [say({ filter: 'host', value: host }), ...(isPath ? [say({ filter: 'path', value: path })] : [])];
  }
  const isPath = API_PATH.test(lower) || (lower.startsWith('/') && isCalled);
  return isPath && isListed(undefined, own) ? [say({ filter: 'path', value: own })] : [];
}

// The rest

function listFilters(text: string, tokens: readonly Token[], phrases: readonly Phrase[]): SaidFilter[] {
  const filters = new Map<string, Said & { words: string[] }>();
  for (const { said, from, to } of phrases) {
    const entry = filters.get(said.filter) ?? { ...said, words: [] };
    entry.words.push(text.slice(tokens[from]?.start, tokens[to - 1]?.end));
    filters.set(said.filter, entry);
  }
  return [...filters.values()];
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
