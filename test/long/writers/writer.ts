import { openCatalogue } from '../../../src/catalogue/database.ts';
import { writeCatalogue } from '../../../src/catalogue/transaction.ts';
import { IDENTITY, makeDeclaration, NOW } from '../../records.ts';
import { recordDeclaration } from '../../written.ts';

/** Every so many transactions is broken off after its writes. */
const BROKEN_OFF = 5;

const [address = '', name = '', turns = ''] = process.argv.slice(2);
const catalogue = await openCatalogue(address, { identity: IDENTITY, at: NOW });
const revisions: number[] = [];
for (let turn = 1; turn <= Number(turns); turn += 1) {
  const declaration = makeDeclaration({
    slug: `by-${name}`,
    base_url: `https://by-${name}.example-provider.com`,
    title: `Edition ${turn}`,
  });
  const write = writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    await recordDeclaration(writing, declaration);
    if (turn % BROKEN_OFF === 0) throw new Error('broken off');
    return writing.revision;
  });
  const revision = await write.catch((error: Error) => {
    if (error.message !== 'broken off') throw error;
  });
  if (revision !== undefined) revisions.push(revision);
}
await catalogue.close();
process.send?.(revisions);
