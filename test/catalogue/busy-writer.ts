import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { IDENTITY, makeDeclaration, NOW } from '../records.ts';
import { recordDeclaration } from '../written.ts';

/** A process that changes one listing over and over, until it is killed. Says `ready` at its first write. */
const catalogue = await openCatalogue(process.argv[2] ?? '', { identity: IDENTITY, at: NOW });
for (let count = 0; ; count++) {
  const declaration = makeDeclaration({ description: `Version ${count} ${'x'.repeat(2000)}` });
  await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, declaration));
  if (count === 0) process.send?.('ready');
}
