import { multiplyListings } from './multiply.ts';
import { createSyntheticCatalogue } from './synthetic.ts';

/**
 * Makes a synthetic catalogue, `node make-catalogue.ts <file> <listings>`: a process of its own, so that what making takes is
 * not measured. Above this size it is made of copies of one of this size.
 */
const WRITTEN_MAX = 10_000;
const [file = '', listings = '0'] = process.argv.slice(2);
const written = Math.min(Number(listings), WRITTEN_MAX);
const catalogue = createSyntheticCatalogue(file, written);
multiplyListings(catalogue, Math.round(Number(listings) / written));
catalogue.close();
