import { parse } from 'tldts';
import unhomoglyph from 'unhomoglyph';

/** Words that name nobody: "The official CoinGecko API" is "CoinGecko". */
const FILLERS = new Set(
  'the a an official original real api apis app service services inc ltd llc gmbh labs hq com net org io ai dev xyz x402'.split(
    ' ',
  ),
);

/** Shorter names than this are everybody's, in letters. */
const MIN_LETTERS = 4;

/** How a listing is known: the names it goes by, and the domain that somebody registered for it. */
export interface ListingNames {
  /** Keys of title and provider name: equal for names that look alike. */
  readonly names: readonly string[];
  /** Registrable domain of the host: `coingecko.com` of `api.coingecko.com`; the host where it has none. */
  readonly domain: string;
  /** Those of `names` that are the domain's own label, as `coingecko` is of `coingecko.com`. */
  readonly own: readonly string[];
}

/** Gives the names that a listing goes by, in a form in which lookalikes are equal, and whose domain it is at. */
export function getListingNames(listing: { title: string; provider_name: string; base_url: string }): ListingNames {
  const host = new URL(listing.base_url).hostname;
  const { domain, domainWithoutSuffix } = parse(host, { allowPrivateDomains: true });
  // A name that is only the address says nothing that the host beside it does not say.
  const given = [listing.title, listing.provider_name].filter((name) => name.trim().toLowerCase() !== host);
  const names = [...new Set(given.map(getNameKey))].filter((name) => name.length >= MIN_LETTERS);
  const label = getNameKey(domainWithoutSuffix ?? '');
  return { names, domain: domain ?? host, own: names.filter((name) => name === label) };
}

/**
 * Gives the key of a name: what is left of it without words that name nobody, signs and case, each character replaced by
 * the one it looks like (Unicode Technical Standard 39, "Confusable Detection").
 */
export function getNameKey(name: string): string {
  const words = stripMarks(name).split(/[^\p{L}\p{N}]+/u);
  return stripMarks(unhomoglyph(words.filter((word) => !FILLERS.has(word)).join('')));
}

function stripMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
