import { parse } from 'tldts';
import { isUnlistedPlatform } from './domains.ts';

/** Words of titles that frameworks, templates and deployments put in if nobody chose one, reviewed by hand. */
const PLACEHOLDERS = new Set(
  `api apis myapi newapi restapi openapi rest endpoint endpoints fastapi flask django express expressapi hono honoapi nest nestjs
  next nextjs next.js nuxt react ts js vite vue svelte astro node nodejs node.js swagger swaggerui redoc x402 402 x402api x402server
  server service services app application web website webapp site backend frontend untitled unknown default undefined null none
  title test testing template starter boilerplate mainnet testnet dev staging prod production main index home homepage page welcome
  login dashboard documentation docs loading error create new my the a an to your of and`.split(/\s+/),
);

/** Titles of error pages, in letters and digits alone. */
const ERROR_TITLES = new Set(
  `paymentrequired notfound pagenotfound forbidden unauthorized unauthorised accessdenied badrequest badgateway internalservererror
  serviceunavailable methodnotallowed toomanyrequests applicationerror justamoment attentionrequired comingsoon signin`.split(
    /\s+/,
  ),
);

/** The number of an HTTP status, before or after its name. */
const STATUS = /^(?:http |error )?[1-5]\d\d\b|\b[1-5]\d\d\W*$/gi;

/**
 * Returns whether a title names anything: it is neither empty, nor the host, nor an address, nor an HTTP status or the title of
 * an error page, nor made of placeholders alone.
 */
export function isTitle(title: string, baseUrl: string): boolean {
  const { host, hostname } = new URL(baseUrl);
  const lower = title.trim().toLowerCase();
  if ([host, hostname].includes(lower) || /^(?:https?:)?\/|^www\./.test(lower)) return false;
  const words = lower.replace(STATUS, ' ').split(/[^\p{L}\p{N}.]+/u);
  const said = words.map((word) => word.replace(/^\.+|\.+$/g, '')).filter(Boolean);
  return !said.every((word) => PLACEHOLDERS.has(word)) && !ERROR_TITLES.has(getLetters(said.join('')));
}

/** Suffixes of hosts that are numbers of a cloud, which say nothing. */
const NUMBERED_SUFFIX = /(?:^|\.)(?:amazonaws\.com|cloudfront\.net|on\.aws)$/;

/** The ending that Cloud Run appends to the name of a service: a random text and a region. */
const CLOUD_RUN_ENDING = /-[a-z0-9]{10}-[a-z]{2}$/;

/** Words that Vercel appends to the name of a project where that is taken: numbers, Greek letters and colours. */
const VERCEL_ENDINGS = new Set(
  `one two three four five six seven eight nine ten alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi omicron pi rho
  sigma tau upsilon phi chi psi omega amber bay black blue blush brown coral cyan drab dun flame gold gray green hazel henna indol ivory
  jade jet khaki lac lake lemon lilac lime liard livid mauve neon ochre olive orcin orpin peach pied pink plum puce red roan rose rouge
  ruby rust sable sage sand sepia silk sooty steel swart tan taupe teal topaz umber vert virid weld wheat white wine woad`.split(
    /\s+/,
  ),
);

/** Words of a host that say what it runs and not what it offers. */
const GENERIC_WORD = /^(?:www|x402|(?:api|apis|openapi|dev|staging|prod|production|main|test|v|d)\d*|public|pro|app)$/;

/** Words that say nothing at the beginning of a label of several. */
const EMPTY_BEGINNING = /^(?:www|x402|(?:api|apis|openapi)\d*)$/;

/** Words that say nothing at the end of a name on a platform. */
const GENERIC_ENDING = /^(?:server|service|backend)$/;

/** A part of a commit or of a random name: hexadecimal letters and digits, both of them. */
const HEXADECIMAL = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{4,}$/;

/** Words that are written in their own way. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  [
    ...'AI API CSV DNS ENS EVM FX GPT HTML IP IPFS JSON JWT KYC LLM MCP ML NBA NFL OCR PDF QR RNG RPC RSS SEC SEO SMS SQL SSL TTS UK URL US USDC UUID VAT VIN VPN XML'.split(
      ' ',
    ),
    ...['DeFi', 'GitHub', 'NFT', 'NFTs', 'OSINT', 'OpenAI', 'x402'],
  ].map((word) => [word.toLowerCase(), word]),
);

/** Longest part of a listing's texts that is searched for the spelling of its name, in UTF-16 units. */
const READ_CHARACTERS = 40_000;

/**
 * Returns a readable name for a host: `api.weather-now.dev` is "Weather Now", and `qr.camelai.io` is "Camelai QR".
 * Words that say nothing are left out; a name that the listing's own texts spell (`FleaWinder`) is written as there.
 * Returns the host if it contains no name.
 */
export function getHostTitle(baseUrl: string, texts: readonly string[]): string {
  const { host, hostname } = new URL(baseUrl);
  const parts = splitHost(hostname);
  if (parts === undefined) return host;
  const spellings = findSpellings(parts, texts);
  const [brand = [], ...products] = parts.map((words) => spellName(words, spellings));
  const letters = getLetters(brand.join(''));
  const more = products.flat().filter((word) => !letters.includes(getLetters(word)));
  const title = [...new Set([...brand, ...more])].join(' ');
  return getLetters(title).length < 2 ? host : title;
}

/** Returns whether a host has words of its own beside its registered name, as `qr.camelai.io` has. */
export function hasOwnWords(baseUrl: string): boolean {
  return (splitHost(new URL(baseUrl).hostname)?.length ?? 0) > 1;
}

/** Splits a host into words: those of the registered name, then those of each label before it, the nearest first. */
function splitHost(hostname: string): string[][] | undefined {
  const { domain, domainWithoutSuffix, subdomain, publicSuffix, isIp } = parse(hostname, { allowPrivateDomains: true });
  if (isIp || !domain || !domainWithoutSuffix || hostname.includes('xn--')) return undefined;
  if (NUMBERED_SUFFIX.test(publicSuffix ?? '')) return undefined;
  // Each host under workers.dev, a public suffix, is a project, and the label before it a user.
  const isProject = isUnlistedPlatform(hostname) || publicSuffix === 'workers.dev';
  const labels = isProject
    ? [(subdomain ?? '').split('.')[0] || domainWithoutSuffix]
    : [domainWithoutSuffix, ...(subdomain ?? '').split('.').reverse()];
  const [name = [], ...before] = labels.map((label) => splitLabel(label));
  if (publicSuffix === 'vercel.app' && name.length > 1 && VERCEL_ENDINGS.has(name.at(-1) ?? '')) name.pop();
  return [name, ...before.filter((words) => !words.every(isEmptyWord))].filter((part) => part.length > 0);
}

/** Splits a label into words, without those at its ends that say nothing; all of them if none says anything. */
function splitLabel(label: string): string[] {
  const all = label.replace(CLOUD_RUN_ENDING, '').split(/[-_]+/).filter(Boolean);
  const words = [...all];
  const isEmptyEnding = (word: string) => isEmptyWord(word) || (words.length > 1 && GENERIC_ENDING.test(word));
  while (words.length > 0 && isEmptyEnding(words.at(-1) ?? '')) words.pop();
  while (words.length > 0 && EMPTY_BEGINNING.test(words[0] ?? '')) words.shift();
  return words.length > 0 ? words : all;
}

function isEmptyWord(word: string): boolean {
  return GENERIC_WORD.test(word) || HEXADECIMAL.test(word);
}

/** Spellings of a listing's name in its texts. */
interface Spellings {
  /** Spellings by letters: `fleawinder` is written `FleaWinder`. */
  readonly names: ReadonlyMap<string, string>;
  /** The words of the texts, in lower case. */
  readonly words: ReadonlySet<string>;
}

/** Longest name in the texts that is compared with the host, in words. */
const NAME_WORDS = 4;

/** Finds the spellings of the host's names in the texts, each as most of them have it. */
function findSpellings(parts: readonly string[][], texts: readonly string[]): Spellings {
  const wanted = new Set(parts.flatMap((words) => [words.join(''), ...words]));
  const longest = Math.max(...[...wanted].map(({ length }) => length));
  const counts = new Map<string, Map<string, number>>();
  const words = new Set<string>();
  const text = texts.join('\n').slice(0, READ_CHARACTERS);
  const tokens = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  for (const [at, token] of tokens.entries()) {
    words.add(token[0].toLowerCase());
    let letters = '';
    for (let to = at; to < Math.min(at + NAME_WORDS, tokens.length); to++) {
      const last = tokens[to] as RegExpExecArray;
      const before = tokens[to - 1] as RegExpExecArray;
      if (to > at && !/^(?:[ -]|\. )$/.test(text.slice(before.index + before[0].length, last.index))) break;
      letters += last[0].toLowerCase();
      if (letters.length > longest) break;
      const name = text.slice(token.index, last.index + last[0].length);
      if (!wanted.has(letters) || !isName(name)) continue;
      const found = counts.get(letters) ?? new Map<string, number>();
      counts.set(letters, found.set(name, (found.get(name) ?? 0) + 1));
    }
  }
  const names = [...counts].map(([letters, found]): [string, string] => {
    const [most] = [...found].sort(([a, some], [b, other]) => other - some || (a < b ? -1 : 1));
    return [letters, most?.[0] ?? letters];
  });
  return { names: new Map(names), words };
}

/** Returns whether a text is written as a name: several capitalised words, or one word with a capital inside. */
function isName(text: string): boolean {
  const words = text.split(/[^\p{L}\p{N}]+/u);
  if (words.length > 1) return words.every((word) => /^[\p{Lu}\p{N}]/u.test(word));
  return /.\p{Lu}/u.test(text) && (text.length <= 4 || /\p{Ll}/u.test(text));
}

/** Writes the words of a label as a name. */
function spellName(words: readonly string[], { names, words: known }: Spellings): string[] {
  const whole = names.get(words.join(''));
  if (whole !== undefined) return [whole];
  return words.map((word) => {
    const pieces = names.has(word) || known.has(word) || SPELLINGS.has(word) ? [word] : splitWord(word, known);
    return pieces.map((piece) => names.get(piece) ?? spellWord(piece)).join(' ');
  });
}

/** Words of which names are made besides those of their own texts. */
const NAME_PARTS = new Set('ai agent agents api app bot chain cloud crypto data hub nft pay token web x402'.split(' '));

/**
 * Splits a word into the words it is made of, which the listing's texts have: `sportsarbitrageapi` into `sports` and
 * `arbitrage`. Returns it whole if that does not account for each of its letters.
 */
function splitWord(word: string, known: ReadonlySet<string>): string[] {
  const isPart = (part: string) => NAME_PARTS.has(part) || (part.length >= 3 && known.has(part));
  const splits: (string[] | undefined)[] = [[]];
  for (let end = 1; end <= word.length; end++) {
    for (let start = 0; start < end; start++) {
      const before = splits[start];
      const part = word.slice(start, end);
      if (before === undefined || !isPart(part)) continue;
      const best = splits[end];
      if (best === undefined || before.length + 1 < best.length) splits[end] = [...before, part];
    }
  }
  const pieces = splits[word.length];
  if (pieces === undefined || !pieces.some((piece) => known.has(piece))) return [word];
  const said = pieces.filter((piece) => piece !== 'api');
  return said.length > 0 ? said : [word];
}

function spellWord(word: string): string {
  // Names that begin with digits or with x402 are written in small letters.
  if (/^x402/.test(word)) return word;
  return SPELLINGS.get(word) ?? `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** Returns the letters and digits of a text, in lower case. */
export function getLetters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
