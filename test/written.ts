import type { Catalogue } from '../src/catalogue/database.ts';
import { type Writing, writeCatalogue } from '../src/catalogue/transaction.ts';
import { delistListing } from '../src/catalogue/write/decisions.ts';
import { type RecordedOutcome, type RecordingFacts, recordDeclarations } from '../src/catalogue/write/declarations.ts';
import type { Declaration } from '../src/model/declaration.ts';
import { NOW } from './records.ts';

/** Records one declaration within a write. */
export async function recordDeclaration(
  writing: Writing,
  declaration: Declaration,
  facts?: RecordingFacts,
): Promise<RecordedOutcome> {
  const [outcome] = await recordDeclarations(writing, [declaration], facts);
  return outcome as RecordedOutcome;
}

/** Records declarations in one write, as an import does, and returns what became of each. */
export function declareListings(
  catalogue: Catalogue,
  declarations: readonly Declaration[],
  at = NOW,
): Promise<RecordedOutcome[]> {
  return writeCatalogue(catalogue, at, (writing) => recordDeclarations(writing, declarations));
}

/** Removes a listing, as the operator or its provider does. */
export async function removeListing(
  catalogue: Catalogue,
  slug: string,
  decision: Parameters<typeof delistListing>[2],
  at = NOW,
): Promise<void> {
  await writeCatalogue(catalogue, at, (writing) => delistListing(writing, slug, decision));
}
