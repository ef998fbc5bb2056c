import { getHost, type LiveListing } from '../model/listing.ts';
import { listCounted, type Route } from '../model/route.ts';
import { getDomain, isOnPlatform } from './domains.ts';

/** Kinds of listings that are not APIs run to be bought. */
export const MARKS = ['demo', 'test', 'token sale'] as const;

/** A mark of a listing, and the reason in a sentence. */
export interface Mark {
  readonly as: (typeof MARKS)[number];
  readonly because: string;
}

/**
 * Names of hosts that nobody is meant to buy from, alone or beside what says nothing of a product: `dev-api2`, but not
 * `dev-toolkit`. `sandbox`, `preview` and `qa` are names of products, too.
 */
const PLAIN = '(?:api|app|www|web|x402|pay|gateway|server|backend|service|v)?\\d*';
const TEST_NAME = new RegExp(
  `^(?:${PLAIN}-)*(?:dev|development|test|testing|testnet|stage|staging|stg|uat|preprod)\\d*(?:-${PLAIN})*$`,
);

/** Domains whose hosts are the running workspaces of developers, and not deployments. */
const WORKSPACES = [
  ...['replit.dev', 'repl.co', 'lovableproject.com', 'webcontainer-api.io', 'cloudworkstations.dev', 'gitpod.dev'],
  ...['idx.dev', 'e2b.app', 'e2b.dev', 'emergentagent.com', 'codeanyapp.com'],
];

const DEMO_NAME = /(?:^|-)(?:demos?\d*|hello-?world)(?:-|$)/;

/** Texts of routes that show how a payment works, and nothing else; the last is that of the examples of x402 itself. */
const DEMO_TEXT =
  /^demo\b|\bhello,? world\b|\b(?:demo|test) (?:endpoint|route|resource)\b|^access to protected content\.?$/i;

/** Paths that a sale ends with, and texts that give a number of tokens for money: `$0.01 for 30 $ABC`. */
const SALE_PATH = /(?:^|[-_/])(?:(?:public|private|token|community)[-_]sale|pre-?sale|fair[-_]launch|early[-_]bird)$/i;
const SALE_TEXT = /\bfor [\d,.]+ \$[A-Z]\w+|\bfair launch, no pre-?mine\b/i;

/** Texts of routes that report on sales, and paths of those that say whether a server is up. */
const REPORT_TEXT = /\b(?:list|track|upcoming|calendar|scan|monitor|analy[sz]|research|plan)/i;
const ALIVE_PATH = /\/(?:ping|health|status)$/i;

/**
 * Finds why a listing is not one to rank beside others: a demo, a host for tests, or a sale of tokens; undefined for all others.
 * Texts count only where those of all its routes say so. Tunnels and previews are refused when they are imported.
 */
export function findMark({ base_url, routes }: Pick<LiveListing, 'base_url' | 'routes'>): Mark | undefined {
  const { hostname } = new URL(base_url);
  // On a platform the owner's name is the one before its domain.
  const names = isOnPlatform(hostname)
    ? hostname.split('.').slice(0, -2)
    : hostname.slice(0, -getDomain(base_url).length).split('.');
  const counted = listCounted(routes);
  const sold = counted.filter(({ path }) => !ALIVE_PATH.test(path));
  const host = getHost(base_url);
  if (WORKSPACES.some((domain) => hostname.endsWith(`.${domain}`)))
    return { as: 'test', because: `Its host, ${host}, is a developer's workspace, and not a deployment.` };
  if (names.some((name) => TEST_NAME.test(name)))
    return { as: 'test', because: `Its host, ${host}, is named as one for development or tests.` };
  if (names.some((name) => DEMO_NAME.test(name)))
    return { as: 'demo', because: `Its host, ${host}, is named as a demo.` };
  if (counted.length > 0 && counted.every(({ description }) => DEMO_TEXT.test(description)))
    return { as: 'demo', because: 'All of its routes are described as a demo.' };
  if (sold.length > 0 && sold.every(isSale))
    return { as: 'token sale', because: 'What it sells is named or described as a sale or launch of tokens.' };
  return undefined;
}

function isSale({ path, description }: Route): boolean {
  const isOffered = SALE_PATH.test(path.split('?')[0] ?? '') || SALE_TEXT.test(description);
  return isOffered && !REPORT_TEXT.test(description);
}
