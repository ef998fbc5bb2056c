import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { type RecordOutcome, recordDeclaration } from '../catalogue/declarations.ts';
import { writeCatalogue } from '../catalogue/write.ts';
import type { Declaration } from '../model/declaration.ts';

/** Declarations in one transaction: readers see them together, and a stop loses at most so many. */
const BATCH_SIZE = 100;

/** What became of one declaration. */
export interface RecordedDeclaration {
  declaration: Declaration;
  id: string;
  slug: string;
  outcome: RecordOutcome;
}

/**
 * Records declarations batch by batch and gives what became of each. Once `signal` is aborted the batch under way is
 * finished and the rest is left: then fewer come back than were given.
 */
export async function recordDeclarations(
  catalogue: Catalogue,
  declarations: readonly Declaration[],
  {
    now,
    signal,
    onProgress,
  }: { now: () => Date; signal: AbortSignal; onProgress?: (done: number, total: number) => void },
): Promise<RecordedDeclaration[]> {
  const recorded: RecordedDeclaration[] = [];
  for (let start = 0; start < declarations.length && !signal.aborted; start += BATCH_SIZE) {
    const batch = declarations.slice(start, start + BATCH_SIZE);
    recorded.push(
      ...writeCatalogue(catalogue, now().toISOString(), (writing) =>
        batch.map((declaration) => {
          const { identity, outcome } = recordDeclaration(writing, declaration);
          return { declaration, id: identity.id, slug: identity.slug, outcome };
        }),
      ),
    );
    onProgress?.(recorded.length, declarations.length);
    // Between transactions the event loop gets its turn, so that Ctrl-C is heard.
    await setImmediate();
  }
  return recorded;
}
