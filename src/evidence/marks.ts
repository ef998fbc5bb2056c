import { getHost, type LiveListing } from '../model/listing.ts';
import { listCounted, type Route } from '../model/route.ts';
import { getDomain, isOnPlatform } from './domains.ts';

/** What a listing is, where that is not an API that is run to be bought. */
export const MARKS = ['demo', 'test', 'token sale'] as const;

/** A mark of a listing, and the reason in a sentence. */
export interface Mark {
  readonly as: (typeof MARKS)[number];
  readonly because: string;
}

/** What is looked at: a listing and its routes that count. */
type Marked = Pick<LiveListing, 'base_url' | 'routes'>;

/** Names of hosts that nobody is meant to buy from. `sandbox`, `preview` and `qa` are also names of products. */
const TEST_NAME = /^(?:dev|development|test|testing|testnet|stage|staging|stg|uat|preprod)\d*$/;

/** Parts beside these that say nothing of what is sold: `dev-api2`, but not `dev-toolkit`. */
const PLAIN_NAME = /^(?:api|app|www|web|x402|pay|gateway|server|backend|service|v)?\d*$/;

/** Names that Railway makes of an environment: `shop-staging.up.railway.app`, `shop-dev-1a2b.up.railway.app`. */
const TEST_ENVIRONMENT = /-(?:dev|development|test|staging)(?:-[0-9a-f]{4})?\.up\.railway\.app$/;

/** Texts of routes that show how a payment works, and nothing else; the last is that of the examples of x402 itself. */
const DEMO_TEXT =
  /^demo\b|\bhello,? world\b|\b(?:demo|test) (?:endpoint|route|resource)\b|^access to protected content\.?$/i;

/** Paths that a sale ends with, and texts that give a number of tokens for money: `$0.01 for 30 $ABC`. */
const SALE_PATH = /(?:^|[-_/])(?:(?:public|private|token|community)[-_]sale|pre-?sale|fair[-_]launch|early[-_]bird)$/i;
const SALE_TEXT = /\bfor [\d,.]+ \$[A-Z]\w+|\bfair launch, no pre-?mine\b/i;

/** Texts of routes that report on sales, or on whether a server is up. */
const REPORT_TEXT = /\b(?:list|track|upcoming|calendar|scan|monitor|analy[sz]|research|plan)/i;
const ALIVE_PATH = /\/(?:ping|health|status)$/i;

/**
 * Finds why a listing is not one to rank beside others: a demo, a host for tests, or a sale of tokens; undefined for all others.
 * Texts count only where those of all its routes say so. Tunnels and previews are refused when they are imported.
 */
export function findMark({ base_url, routes }: Marked): Mark | undefined {
  const host = getHost(base_url);
  const names = listOwnNames(base_url);
  const counted = listCounted(routes);
  const sold = counted.filter(({ path }) => !ALIVE_PATH.test(path));
  if (names.some(isTestName) || TEST_ENVIRONMENT.test(host))
    return { as: 'test', because: `Its host, ${host}, is named as one for development or tests.` };
  if (names.some(isDemoName)) return { as: 'demo', because: `Its host, ${host}, is named as a demo.` };
  if (isTrueOfAll(counted, ({ description }) => DEMO_TEXT.test(description)))
    return { as: 'demo', because: 'All of its routes are described as a demo.' };
  if (isTrueOfAll(sold, isSale))
    return {
      as: 'token sale',
      because: 'What it sells is named or described as a public sale, a presale or the launch of a token.',
    };
  return undefined;
}

/** Lists the names in a host that its owner gave to this host: those before the registered domain, on a platform that of the owner, too. */
function listOwnNames(baseUrl: string): string[] {
  const { hostname } = new URL(baseUrl);
  const domain = getDomain(baseUrl);
  const before = hostname.slice(0, -domain.length).split('.');
  const own = isOnPlatform(hostname) ? domain.split('.').slice(0, 1) : [];
  return [...before, ...own].filter(Boolean);
}

function isTestName(name: string): boolean {
  const parts = name.split('-');
  return (
    parts.some((part) => TEST_NAME.test(part)) && parts.every((part) => TEST_NAME.test(part) || PLAIN_NAME.test(part))
  );
}

function isDemoName(name: string): boolean {
  return name.split('-').some((part) => /^demos?\d*$/.test(part)) || /(?:^|-)hello-?world(?:-|$)/.test(name);
}

function isSale({ path, description }: Route): boolean {
  const isOffered = SALE_PATH.test(path.split('?')[0] ?? '') || SALE_TEXT.test(description);
  return isOffered && !REPORT_TEXT.test(description);
}

function isTrueOfAll(routes: readonly Route[], isTrue: (route: Route) => boolean): boolean {
  return routes.length > 0 && routes.every(isTrue);
}
