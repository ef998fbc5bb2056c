import type { Declaration } from '../model/declaration.ts';
import { AUTHORITIES, type Authority, type DeclarationSource, SOURCES } from '../model/source.ts';
import { compareTexts } from '../model/text.ts';
import { speaksFor } from './domains.ts';

/*
 * The one order of claims. Payments are believed first, then what a 402 of that very route was seen to ask, then the
 * host's own words, the operator's, and hearsay last: feeds and documents of others, into which anybody can put anything
 * about anybody.
 *
 * - Each fact comes from the first source that has it. Hearsay counts if no source above it has the fact. Its links stay on
 *   the API's own host or the one above that, and the number of times that it says something never counts.
 * - Hearsay lowers nobody: no score, no removal, no danger, no price. A route that only others name is set aside once another
 *   route was seen or the provider names its routes.
 * - Time breaks ties within a rank, by the clock of this catalogue: the latest words count for the host and the operator, the
 *   earliest for feeds. No tie is broken by a name. Terms whose network is stated come before terms whose network is assumed,
 *   whatever their times.
 */

/**
 * Returns whose word a source is about the API at a base address. A document speaks for the host that it was fetched from
 * and hosts below it; one that the operator handed over, or whose listings the operator named, is the operator's word.
 */
export function getAuthority({ kind, name, speaker }: DeclarationSource, baseUrl: string): Authority {
  const by = SOURCES[kind].speaker;
  if (by !== 'document') return by;
  // The name of a fetched document was its address before the speaker was recorded.
  const address = speaker === undefined ? (URL.canParse(name) ? name : null) : speaker;
  if (address === null) return 'operator';
  return speaksFor(address, baseUrl) ? 'host' : 'hearsay';
}

/** A declaration on record. */
export interface RecordedDeclaration {
  declaration: Declaration;
  /** Time at which a complete pull of its source no longer held it, ISO 8601 UTC; null while it does. */
  withdrawn_at: string | null;
  /** Time by our clock at which a feed was first heard, or another source was last read; null if that is not known. */
  heard_at?: string | null;
}

/** A declaration with its authority. */
export interface Heard {
  readonly declaration: Declaration;
  readonly authority: Authority;
  /** Time of hearing, as in `RecordedDeclaration`. */
  readonly heard_at: string | null;
}

/** Lists declarations with the authority of each, the one that is believed first at the beginning. */
export function rankDeclarations(recorded: readonly RecordedDeclaration[]): Heard[] {
  return recorded
    .map(({ declaration, heard_at = null }) => {
      const { source, base_url } = declaration;
      return { declaration, heard_at, authority: getAuthority(source, base_url) };
    })
    .toSorted(
      (a, b) =>
        AUTHORITIES.indexOf(a.authority) - AUTHORITIES.indexOf(b.authority) ||
        // A provider's announcement is written for catalogues such as this one, and read again at every visit.
        Number(b.declaration.source.kind === 'provider') - Number(a.declaration.source.kind === 'provider') ||
        compareTexts(getTime(a), getTime(b)) * (a.authority === 'hearsay' ? 1 : -1) ||
        compareTexts(getContent(a.declaration), getContent(b.declaration)),
    );
}

/**
 * Returns a text that sorts declarations by when they were heard, then by when their facts were seen. Those without a
 * time of hearing sort lowest.
 */
function getTime({ declaration: { source }, heard_at }: Heard): string {
  return `${heard_at ?? ''} ${source.observed_at ?? ''}`;
}

/** Returns the content of a declaration without its source: equal for sources that say the same. */
function getContent({ source: _source, ...content }: Declaration): string {
  return JSON.stringify(content);
}
