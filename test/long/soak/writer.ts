import { buildSyntheticDeclaration } from '../../../scripts/bench/synthetic.ts';
import { openCatalogue } from '../../../src/catalogue/database.ts';
import { writeCatalogue } from '../../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../../src/catalogue/write/decisions.ts';
import { ANY_CLOCK } from '../../new-catalogue.ts';
import { recordDeclaration } from '../../written.ts';

/** How many listings at the end are removed and put back, and so are not asked for. */
export const RESERVED = 10;

/** Writes to a catalogue that is being served. */
export interface Writer {
  /** Makes the next change that readers see. Gives its revision, and the slug of a listing that is new. */
  write(): Promise<{ revision: number; slug: string | undefined }>;
  close(): Promise<void>;
}

/** Opens a writer that changes, adds, removes and puts back listings in turn, so that counts go up and down. */
export async function openWriter(file: string, listings: number): Promise<Writer> {
  const catalogue = await openCatalogue(file, { identity: '', at: new Date().toISOString() }, ANY_CLOCK);
  let writes = 0;
  return {
    close: () => catalogue.close(),
    async write() {
      writes += 1;
      const [round, step] = [Math.floor(writes / 6), writes % 6];
      const reserved = buildSyntheticDeclaration(listings - 1 - (round % RESERVED)).service_name;
      const declaration = buildSyntheticDeclaration(step === 3 ? listings + round : writes % (listings - RESERVED));
      const tagline = `Written as number ${writes}: ${declaration.tagline}`;
      const revision = await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
        if (step === 1) await delistListing(writing, reserved ?? '', { by: 'operator', reason: 'soak' });
        else if (step === 4) await relistListing(writing, reserved ?? '', { by: 'operator' });
        else await recordDeclaration(writing, { ...declaration, tagline });
        return writing.revision;
      });
      return { revision, slug: step === 3 ? (declaration.service_name ?? undefined) : undefined };
    },
  };
}
