import { parse } from 'tldts';
import unhomoglyph from 'unhomoglyph';
import { getDomain } from './domains.ts';

/** Words that do not distinguish names: "The official CoinGecko API" is "CoinGecko". */
const FILLER_WORDS = new Set(
  'the a an official original real api apis app service services inc ltd llc gmbh labs hq com net org io ai dev xyz x402'.split(
    ' ',
  ),
);

/** Shorter names are too common to be compared, in letters. */
const MIN_LETTERS = 4;

/** The names of a listing, and the domain that somebody registered for it. */
export interface ListingNames {
  /** Keys of the title and the provider name; names that look alike have equal keys. */
  readonly names: readonly string[];
  /** Registrable domain of the host: `coingecko.com` for `api.coingecko.com`; the host itself if it has none. */
  readonly domain: string;
  /** Those of `names` that are also the name of the domain, as `coingecko` is for `coingecko.com`. */
  readonly own: readonly string[];
}

/** Returns the keys of a listing's names, equal for lookalikes, and the domain it is at. */
export function getListingNames(listing: { title: string; provider_name: string; base_url: string }): ListingNames {
  const host = new URL(listing.base_url).hostname;
  const { domainWithoutSuffix } = parse(host, { allowPrivateDomains: true });
  // A name that only repeats the host is left out.
  const given = [listing.title, listing.provider_name].filter((name) => name.trim().toLowerCase() !== host);
  const names = [...new Set(given.map(getNameKey))].filter((name) => name.length >= MIN_LETTERS);
  const label = getNameKey(domainWithoutSuffix ?? '');
  return { names, domain: getDomain(listing.base_url), own: names.filter((name) => name === label) };
}

/**
 * Returns the key of a name: filler words, signs and case are removed, and each character is replaced by the one it
 * looks like (Unicode Technical Standard 39, "Confusable Detection").
 */
export function getNameKey(name: string): string {
  const words = stripMarks(name).split(/[^\p{L}\p{N}]+/u);
  return stripMarks(unhomoglyph(words.filter((word) => !FILLER_WORDS.has(word)).join('')));
}

function stripMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
