import { countListings } from '../catalogue/counts.ts';
import type { Catalogue } from '../catalogue/database.ts';
import { importManifests } from './import-manifests.ts';
import type { ImportReport } from './import-report.ts';

/**
 * Imports the manifests of a folder into a catalogue that has no listings yet. Returns what it came to; undefined where
 * the catalogue has some already, and then nothing is done. Throws `bad_input` where there is no such folder.
 */
export async function seedCatalogue(
  catalogue: Catalogue,
  folder: string,
  now: () => Date = () => new Date(),
): Promise<ImportReport | undefined> {
  const { live, held, delisted } = countListings(catalogue);
  if (live + held + delisted > 0) return undefined;
  const signal = new AbortController().signal;
  return importManifests(catalogue, [folder], { allowPrivateNetworks: false, now, signal });
}
