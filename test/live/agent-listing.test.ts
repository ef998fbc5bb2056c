import { expect, it } from 'vitest';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { delistListing } from '../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { agentListing } from '../../src/views/agent-listing.ts';
import { makeCatalogue, makeDeclaration, NOW, recordVerified } from '../builders.ts';
import { serveLive } from './serving.ts';

it('shows a listing whole: routes with terms, networks, evidence and decisions', async () => {
  const catalogue = makeCatalogue();
  writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
  recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
  const { get } = serveLive(catalogue);
  const body = await (await get('/agent/listings/example-prices')).json();
  expect(agentListing.parse(body)).toEqual(body);
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot('../golden/agent-listing.json');
});

it('tells a delisted listing from one that never was', async () => {
  const catalogue = makeCatalogue();
  writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
  writeCatalogue(catalogue, NOW, (writing) =>
    delistListing(writing, 'example-prices', { by: 'provider', reason: 'asked_to_be_removed' }),
  );
  const { get } = serveLive(catalogue);
  const gone = await get('/agent/listings/example-prices');
  expect(gone.status).toBe(410);
  expect(await gone.json()).toMatchObject({
    code: 'gone',
    tombstone: { slug: 'example-prices', delisted_by: 'provider', reason: 'asked_to_be_removed', delisted_at: NOW },
  });
  expect((await get('/agent/listings/never-was')).status).toBe(404);
  expect((await get('/agent/listings/never-was?x=1')).status).toBe(400);
  expect((await get('/agent/nothing')).status).toBe(404);
});
