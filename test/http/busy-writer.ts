import { workerData } from 'node:worker_threads';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { relistListing } from '../../src/catalogue/write/decisions.ts';
import { ANY_CLOCK } from '../new-catalogue.ts';
import { IDENTITY, NOW, recordVerified } from '../records.ts';
import { declareListings, removeListing } from '../written.ts';

/** Adds, delists, relists and verifies listings, one after the other, from another thread: 120 steps. */
const catalogue = await openCatalogue(workerData.file, { identity: IDENTITY, at: NOW }, ANY_CLOCK);
for (let step = 0; step < 120; step += 1) {
  const declaration = buildSyntheticDeclaration(150 + Math.floor(step / 4));
  const slug = declaration.service_name ?? '';
  if (step % 4 === 0) await declareListings(catalogue, [declaration]);
  if (step % 4 === 1 && step === 1) {
    const path = (await findListing(catalogue, { slug }))?.routes[0]?.path ?? '';
    await recordVerified(catalogue, slug, path);
  }
  if (step % 4 === 2) await removeListing(catalogue, slug, { by: 'operator', reason: 'test' });
  if (step % 8 === 7)
    await writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, slug, { by: 'operator' }));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3);
}
await catalogue.close();
