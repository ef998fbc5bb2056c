import { buildSyntheticDeclaration } from '../../../scripts/bench/synthetic.ts';
import { openCatalogue } from '../../../src/catalogue/database.ts';
import { recordDeclaration } from '../../../src/catalogue/declarations.ts';
import { delistListing, relistListing } from '../../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../../src/catalogue/write.ts';

/** How many listings at the end are removed and put back, and so are not asked for. */
export const RESERVED = 10;

/** Writes to a catalogue that is being served. */
export interface Writer {
  /** Makes the next change that readers see. Gives its revision, and the slug of a listing that is new. */
  write(): { revision: number; slug: string | undefined };
  close(): void;
}

/** Opens a writer that changes, adds, removes and puts back listings in turn, so that counts go up and down. */
export function openWriter(file: string, listings: number): Writer {
  const catalogue = openCatalogue(file, { identity: '', at: new Date().toISOString() });
  let writes = 0;
  return {
    close: () => catalogue.close(),
    write() {
      writes += 1;
      const [round, step] = [Math.floor(writes / 6), writes % 6];
      const reserved = buildSyntheticDeclaration(listings - 1 - (round % RESERVED)).service_name;
      const declaration = buildSyntheticDeclaration(step === 3 ? listings + round : writes % (listings - RESERVED));
      const tagline = `Written as number ${writes}: ${declaration.tagline}`;
      const revision = writeCatalogue(catalogue, new Date().toISOString(), (writing) => {
        if (step === 1) delistListing(writing, reserved ?? '', { by: 'operator', reason: 'soak' });
        else if (step === 4) relistListing(writing, reserved ?? '', { by: 'operator' });
        else recordDeclaration(writing, { ...declaration, tagline });
        return writing.revision;
      });
      return { revision, slug: step === 3 ? (declaration.service_name ?? undefined) : undefined };
    },
  };
}
