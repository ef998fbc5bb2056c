import { join } from 'node:path';
import { pino } from 'pino';
import { type RunningServer, startServer } from '../src/http/server.ts';
import type { Declaration } from '../src/model/declaration.ts';
import type { ProbeSample } from '../src/model/probe.ts';
import { makeFolder } from './builders.ts';
import { serveLive } from './http/serving.ts';
import { openNewCatalogue } from './new-catalogue.ts';
import { type Paid, recordPaid } from './paid.ts';
import { IDENTITY, makeDeclaration, NOW } from './records.ts';
import { recordProbed } from './sampled.ts';
import { rebuildAgain } from './site/rebuilding.ts';
import { makeConfig } from './site/site-fixture.ts';
import { declareListings, removeListing } from './written.ts';

/** A catalogue that is written by what happens in the field, and read at the doors of the service. */
export interface Fixture {
  /** Records what a provider or a feed says of listings; what is left out is as `makeDeclaration` has it. */
  declare(...listings: Partial<Declaration>[]): Promise<void>;
  /** Records what probes of a route saw, in the order given; without a path, of the first route. */
  look(slug: string, samples: readonly (Partial<ProbeSample> & { at: string })[], path?: string): Promise<void>;
  /** Records a paid call, delivered unless said otherwise. */
  pay(slug: string, paid: Paid): Promise<void>;
  /** Removes a listing as its provider or the operator does. */
  remove(slug: string, by: 'operator' | 'provider', reason: string): Promise<void>;
  /** Asks the service for a path, in this process and without its pages. */
  read(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Starts the whole service, pages and all, and returns its address. */
  serve(): Promise<string>;
  close(): Promise<void>;
}

/** Opens a fixture on the catalogue in a folder, by default a new one; whoever opens it closes it. */
export async function openFixture(folder = makeFolder()): Promise<Fixture> {
  const catalogue = await openNewCatalogue(join(folder, 'catalogue.sqlite'), { identity: IDENTITY, at: NOW });
  let live: Awaited<ReturnType<typeof serveLive>> | undefined;
  let server: RunningServer | undefined;
  return {
    declare: async (...listings) => {
      await declareListings(catalogue, listings.map(makeDeclaration));
    },
    look: (slug, samples, path) => recordProbed(catalogue, slug, samples, path),
    pay: (slug, paid) => recordPaid(catalogue, slug, paid),
    remove: (slug, by, reason) => removeListing(catalogue, slug, { by, reason }),
    read: async (path, headers) => {
      live ??= await serveLive(catalogue);
      return live.get(path, headers);
    },
    serve: async () => {
      const config = makeConfig(folder);
      await rebuildAgain({ config });
      server = await startServer({ config, logger: pino({ level: 'silent' }), rebuilding: false });
      return server.url;
    },
    close: async () => {
      await server?.close();
      live?.reading.close();
      await catalogue.close();
    },
  };
}
