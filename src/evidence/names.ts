import { domainToUnicode } from 'node:url';
import unhomoglyph from 'unhomoglyph';
import type { Listing } from '../model/listing.ts';
import { getDomain, getRegisteredLabel } from './domains.ts';

/** Words that do not distinguish names, by key: "The official CoinGecko API v2" is "CoinGecko". */
const FILLER_WORDS = new Set(
  'the a an official original real get try use api apis app apps pro plus premium service services inc ltd llc gmbh labs hq com net org io ai dev xyz mcp x402 v1 v2 v3 v4 v5'
    .split(' ')
    .map(getKey),
);

/** Fillers joined to a name, as in "CoinGeckoPro": only those with which few other words begin or end. */
const JOINED_FILLERS = /^(?:the|official|get|try|use)|(?:official|apis?|apps?|pro|plus|labs|hq|ai|mcp|x402)$/gi;

/** Fewest letters of a name that is compared: shorter ones are too common. */
const MIN_LETTERS = 4;

/** The names of a listing by their keys, which are equal for names that look alike. */
export interface ListingNames {
  /**
   * All texts that a reader may take for its name, also a title made from its host, and a name without its joined
   * fillers.
   */
  readonly names: readonly string[];
  /** Names that a source gives, as title or as name of the provider. */
  readonly given: readonly string[];
  /** Names for which evidence gives it a standing: the given ones and the label of its registered domain. */
  readonly claimed: readonly string[];
  /** Given names that equal that label, letter by letter. */
  readonly own: readonly string[];
  readonly domain: string;
}

/**
 * Returns the names of a listing. A name that only repeats the host is left out; `is_named` is false for a title made
 * from it.
 */
export function getListingNames(
  listing: Pick<Listing, 'base_url' | 'title' | 'provider_name'> & { is_named: boolean },
): ListingNames {
  const { base_url, title, is_named, provider_name } = listing;
  const { host, hostname } = new URL(base_url);
  const label = getRegisteredLabel(base_url);
  const isNoHost = (name: string) => ![host, hostname].includes(name.trim().toLowerCase());
  const given = [...(is_named ? [title] : []), provider_name].filter(isNoHost).flatMap(listForms);
  const claimed = [...given, ...listForms(domainToUnicode(label))];
  const shown = [...claimed, ...[title].filter(isNoHost).flatMap(listForms)];
  return {
    names: getKeys([...shown, ...shown.map((words) => [words.join('').replace(JOINED_FILLERS, '')])]),
    given: getKeys(given),
    claimed: getKeys(claimed),
    own: getKeys(
      given.filter((words) => [words.join(''), words.join('-')].some((name) => name.toLowerCase() === label)),
    ),
    domain: getDomain(base_url),
  };
}

/**
 * Grades of the evidence for a listing's claim to a name: none, its registered domain, its reliability, a paid call.
 */
export const STANDING = { none: 0, domain: 1, established: 2, verified: 3 } as const;
export type Standing = (typeof STANDING)[keyof typeof STANDING];

/** Returns the standing that evidence gives a listing. */
export function getEvidenceStanding({ routes, reliability }: Pick<Listing, 'routes' | 'reliability'>): Standing {
  if (routes.some(({ proof }) => proof !== null)) return STANDING.verified;
  return reliability.band === 'established' ? STANDING.established : STANDING.none;
}

/** Returns the standing for a name by which a listing is protected, with that much evidence. */
export function getStanding({ claimed, own }: ListingNames, name: string, evidence: Standing): Standing {
  if (evidence !== STANDING.none && claimed.includes(name)) return evidence;
  return own.includes(name) ? STANDING.domain : STANDING.none;
}

/**
 * Returns the standing for a name by which a listing is judged. The name of its own domain, and one that no source
 * gives it, are only outranked by evidence.
 */
export function getJudgedStanding({ given, own }: ListingNames, name: string, evidence: Standing): Standing {
  const isBorrowed = given.includes(name) && !own.includes(name);
  return evidence === STANDING.none && !isBorrowed ? STANDING.domain : evidence;
}

/** A listing with a name, and its standing for it. */
export interface NameHolder {
  readonly slug: string;
  readonly domain: string;
  readonly standing: Standing;
  /** Time since when it has the name, ISO 8601 UTC. */
  readonly since: string;
  readonly payees: readonly string[];
}

/**
 * Returns whether a listing imitates another one of the same name: the other is at another domain, its standing is
 * higher, and it had the name first or at the same time. A listing that pays only payees of the other has the same
 * owner.
 */
export function isImitation(listing: Omit<NameHolder, 'slug'>, other: NameHolder): boolean {
  const isSameAccount = listing.payees.length > 0 && listing.payees.every((payee) => other.payees.includes(payee));
  return (
    listing.domain !== other.domain &&
    listing.standing < other.standing &&
    listing.since >= other.since &&
    !isSameAccount
  );
}

/**
 * Returns the order in which imitated listings are named: the highest standing first, then the one that had the name
 * first.
 */
export function compareHolders(a: NameHolder, b: NameHolder): number {
  const [first, second] = [a, b].map(({ since, slug }) => `${since} ${slug}`) as [string, string];
  return b.standing - a.standing || (first < second ? -1 : Number(first > second));
}

/**
 * Lists the words of a name as it is written, and without words that do not distinguish it; nothing if none is left.
 */
function listForms(name: string): string[][] {
  const words = stripMarks(name).match(/[\p{L}\p{N}]+/gu) ?? [];
  const kept = words.filter((word) => !FILLER_WORDS.has(getKey(word)));
  return kept.length === 0 ? [] : [words, kept];
}

/** Returns the key of a name without the words that do not distinguish it; empty if none is left. */
export function getNameKey(name: string): string {
  return getKey(listForms(name).at(-1)?.join('') ?? '');
}

function getKeys(forms: readonly string[][]): string[] {
  const names = forms.map((words) => words.join('')).filter((name) => [...name].length >= MIN_LETTERS);
  return [...new Set(names.map(getKey))];
}

/**
 * Returns the key of a name without spaces: each character is replaced by the one it looks like (Unicode Technical
 * Standard 39, "Confusable Detection"), as a capital and as a small letter; i, l and 1 are one, and so are o and 0.
 */
function getKey(name: string): string {
  return replaceLookalikes(replaceLookalikes(name).toLowerCase()).replaceAll('i', 'l');
}

function replaceLookalikes(text: string): string {
  return stripMarks(unhomoglyph(stripMarks(text)));
}

function stripMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '');
}
