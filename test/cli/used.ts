import { IDENTITY, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { recordPaid } from '../paid.ts';
import { recordProbed } from '../sampled.ts';
import { declareListings } from '../written.ts';
import { makeCommands } from './running.ts';

const PAID = '11111111-1111-4111-8111-111111111111';

/** Commands on a catalogue of one listing that was probed and paid for. */
export async function makeUsed(settings: Record<string, string> = {}) {
  const commands = makeCommands(settings);
  const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: NOW });
  const route = makeRoute({ path: '/v1/a', terms: [makeTerms({ amount: 1000 })] });
  await declareListings(catalogue, [makeDeclaration({ slug: 'used', routes: [route] })]);
  await recordProbed(catalogue, 'used', [
    { at: '2026-11-01T00:00:00.000Z', outcome: 'timeout' },
    { at: NOW, outcome: 'payable' },
  ]);
  await recordPaid(catalogue, 'used', { path: '/v1/a', id: PAID });
  await catalogue.close();
  return commands;
}
