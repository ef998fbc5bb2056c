import { basename } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** A campaign: what it is for, its minutes alone on two cores, and the folders of `src` that it covers. */
interface Campaign {
  readonly purpose: string;
  readonly minutes: number;
  readonly covers: readonly string[];
}

/** The campaigns of `npm run test:long`, by the name of their file. */
export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  accessibility: {
    purpose: 'every rule of axe on every kind of page, light and dark, at four widths',
    minutes: 1,
    covers: ['pages', 'components', 'layouts', 'views'],
  },
  checks: {
    purpose: '10,000 checks of one attacker, beside an honest provider',
    minutes: 2,
    covers: ['intake', 'fetching', 'probing'],
  },
  endurance: { purpose: 'hundreds of MCP calls leave nothing behind', minutes: 1, covers: ['mcp'] },
  faults: {
    purpose: 'ten faults of network, database and disk: nothing staler than it says, and each told',
    minutes: 5,
    covers: ['catalogue', 'published', 'http', 'metrics'],
  },
  following: {
    purpose: 'three followers of one file, killed at any moment: every state of it is whole',
    minutes: 3,
    covers: ['published', 'catalogue'],
  },
  'hostile-clients': {
    purpose:
      'floods and listings of thousands of routes in bounded memory, attacks alone and behind nginx, odd requests',
    minutes: 25,
    covers: ['http', 'published', 'search', 'mcp'],
  },
  larger: {
    purpose: 'paging, publishing, real feeds and labelled requests, as in the short tests but whole',
    minutes: 2,
    covers: ['published', 'catalogue', 'cli', 'views', 'mcp', 'search'],
  },
  machines: {
    purpose: 'three servers, importers, probers and a payer of one PostgreSQL, killed and failed over',
    minutes: 16,
    covers: ['catalogue', 'published', 'http', 'paying', 'probing', 'importing'],
  },
  'page-code': {
    purpose: 'pages compiled again, where they are damaged and on demand',
    minutes: 1,
    covers: ['site'],
  },
  'payment-kills': {
    purpose: '200 kills of a payer: nothing is paid twice, no receipt is lost',
    minutes: 8,
    covers: ['paying', 'catalogue'],
  },
  'probing-campaign': {
    purpose: '5,000 routes on 500 hosts of every kind, and a run that is killed again and again',
    minutes: 8,
    covers: ['probing', 'fetching', 'catalogue'],
  },
  'probing-year': {
    purpose: 'a year of 300 listings: each ends where it has to, with every step explained',
    minutes: 10,
    covers: ['evidence', 'catalogue'],
  },
  processes: {
    purpose: 'npm start ends with all it started, by each signal; npm run demo, all of it; a page of npm run dev',
    minutes: 2,
    covers: ['http', 'site', 'paying'],
  },
  properties: {
    purpose: 'the property tests of readers of outside input, each with 3,000 examples',
    minutes: 8,
    covers: ['sources', 'x402', 'fetching', 'probing', 'evidence', 'search', 'views'],
  },
  'readme-picture': { purpose: 'the picture of the README against the demonstration', minutes: 1, covers: ['pages'] },
  'rebuild-campaign': {
    purpose: '200 rebuilds under readers, every fourth killed, and one by several threads',
    minutes: 4,
    covers: ['site', 'http', 'pages'],
  },
  soak: {
    purpose: 'twenty minutes of everything at 10,000 listings, in memory that stays flat',
    minutes: 24,
    covers: ['http', 'published', 'site', 'mcp', 'search'],
  },
  submissions: {
    purpose: 'submissions while intake and prober are killed, and beside attackers',
    minutes: 4,
    covers: ['intake', 'submissions', 'probing'],
  },
  'token-code': {
    purpose: 'the contracts of the market are what their sources compile to',
    minutes: 1,
    covers: ['paying'],
  },
  'verify-due': {
    purpose: '90 days of verification within a budget',
    minutes: 2,
    covers: ['paying', 'evidence'],
  },
  writers: { purpose: 'several writers of one catalogue, on both engines', minutes: 2, covers: ['catalogue'] },
};

/** Prints, before each campaign, what it is for, how long it takes and what it covers, and after it how long it took. */
export default class CampaignReporter implements Reporter {
  readonly #began = new Map<string, number>();

  onTestModuleStart({ moduleId }: TestModule): void {
    const name = basename(moduleId, '.long.ts');
    const campaign = CAMPAIGNS[name];
    if (!campaign) throw new Error(`${name} is not in CAMPAIGNS: say there what it is for`);
    const { purpose, minutes, covers } = campaign;
    this.#began.set(moduleId, performance.now());
    console.log(`${name}: ${purpose}. About ${minutes} min. Covers ${covers.map((room) => `src/${room}`).join(', ')}.`);
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    const seconds = (performance.now() - (this.#began.get(moduleId) ?? 0)) / 1000;
    console.log(`${basename(moduleId, '.long.ts')} took ${seconds.toFixed(0)} s.`);
  }
}
