import type { ServerResponse } from 'node:http';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { declareListings } from '../written.ts';
import { PAYEE } from '../x402/challenges.ts';
import { openSeller, type Seller, sendStatus } from './market.ts';

/** What the sellers of these tests ask for, as a declaration has it. */
const ASKED = makeTerms({ amount: 10_000, pay_to: PAYEE.toLowerCase() });

/** A catalogue file that lists sellers on loopback, and the commands to run on it at a time that a test sets. */
export interface MarketCommands extends ReturnType<typeof makeCommands> {
  /** Hours since the beginning; the commands run at that time. */
  setHours: (hours: number) => void;
  /** Opens a seller without a robots.txt, lists it under a slug, and closes it after the test. */
  list: (slug: string, answer: (response: ServerResponse, url: string) => void, paths?: string[]) => Promise<Seller>;
  /** What the seller was asked, but for its robots.txt. */
  listAsked: (seller: Seller) => string[];
}

export function makeMarketCommands(): MarketCommands {
  let hours = 0;
  const getNow = () => new Date(Date.parse(NOW) + hours * 3_600_000);
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, getNow);
  return {
    ...commands,
    setHours: (wanted) => {
      hours = wanted;
    },
    list: async (slug, answer, paths = ['/v1/a', '/v1/b', '/v1/c']) => {
      const seller = await openSeller((response, { url }) => {
        if (url === '/robots.txt') sendStatus(response, 404);
        else answer(response, url);
      });
      const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: NOW });
      const routes = paths.map((path) => makeRoute({ path, terms: [ASKED] }));
      const declaration = makeDeclaration({ slug, base_url: seller.url, routes });
      await declareListings(catalogue, [declaration], getNow().toISOString());
      await catalogue.close();
      return seller;
    },
    listAsked: ({ asked }) => asked.map(({ url }) => url).filter((url) => url !== '/robots.txt'),
  };
}

/** Answers 404 to whatever is not one of the routes, so that nobody takes the host for one where everything is paid. */
export function isRoute(url: string): boolean {
  return /^\/v1\/[a-z]$/.test(url);
}
