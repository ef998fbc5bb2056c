import { getListingId, getRouteId } from '../../src/model/ids.ts';
import { PATHS } from '../../src/views/links.ts';
import { getRouteAnchor } from '../../src/views/listing/routes.ts';
import { buildComparePath } from '../../src/views/route-name.ts';

/** A kind of page, by one page of the world of these tests that shows as much of it as there is. */
export interface PageKind {
  readonly name: string;
  readonly path: string;
  /** Status that it is answered with; 200 where none is given. */
  readonly status?: number;
}

/** Receipts in the world of these tests: of a call that was delivered, and of one in hostile words that was not. */
export const RECEIPTS = {
  delivered: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  undelivered: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
} as const;

/** The listing in hostile words, and its route. */
export const HOSTILE_BASE = 'https://hostile.example-provider.com';
export const HOSTILE_PATH = '/v1/\'"><script>window.hacked=1</script>';
const HOSTILE_ANCHOR = getRouteAnchor({
  id: getRouteId(getListingId(HOSTILE_BASE), 'GET', HOSTILE_PATH),
  method: 'GET',
  path: HOSTILE_PATH,
});
/** Routes that are compared: a verified one, one that was paid for in vain, one of a removed listing, and one that is not known. */
const COMPARED = [
  'example-prices GET /v1/other',
  `hostile GET ${HOSTILE_PATH}`,
  'api-2 GET /v1/price/:symbol',
  'many-routes GET /maths/tool',
];

/** Every kind of page that people see: what is asked of one is asked of all. A new kind of page is added here. */
export const PAGE_KINDS: readonly PageKind[] = [
  { name: 'home', path: PATHS.home },
  { name: 'search', path: `${PATHS.search}?q=prices&category=Finance` },
  { name: 'all listings', path: PATHS.search },
  { name: 'search without a match', path: `${PATHS.search}?q=zebra` },
  { name: 'search refused', path: `${PATHS.search}?category=Fnance`, status: 400 },
  { name: 'comparison', path: buildComparePath(COMPARED) },
  { name: 'comparison of one route', path: buildComparePath(COMPARED.slice(0, 1)) },
  { name: 'comparison refused', path: PATHS.compare, status: 400 },
  { name: 'listing', path: PATHS.listing('example-prices') },
  { name: 'listing of many routes', path: PATHS.listing('many-routes') },
  { name: 'listing of very many routes', path: PATHS.listing('most-routes') },
  { name: 'route in hostile words', path: PATHS.route('hostile', HOSTILE_ANCHOR) },
  { name: 'listing in hostile words', path: PATHS.listing('hostile') },
  { name: 'receipt', path: PATHS.receipt(RECEIPTS.delivered) },
  { name: 'receipt of a call that brought nothing', path: PATHS.receipt(RECEIPTS.undelivered) },
  { name: 'tombstone', path: PATHS.listing('api-2'), status: 410 },
  { name: 'category', path: PATHS.category('Finance') },
  { name: 'network', path: PATHS.network('base') },
  { name: 'network without listings', path: PATHS.network('solana') },
  { name: 'provider', path: PATHS.provider('example-provider.com') },
  { name: 'verified', path: PATHS.verified },
  { name: 'method', path: PATHS.method },
  { name: 'providers', path: PATHS.providers },
  { name: 'findings', path: PATHS.findings },
  { name: 'docs', path: PATHS.docs },
  { name: 'docs for agents', path: PATHS.docsAgents },
  { name: 'manual of the API', path: PATHS.docsUsing },
  { name: 'operating manual', path: PATHS.docsOperating },
  { name: 'architecture manual', path: PATHS.docsArchitecture },
  { name: 'speed', path: PATHS.docsSpeed },
  { name: 'endpoints', path: PATHS.docsApi },
  { name: 'changes', path: PATHS.changes },
  { name: 'not found', path: '/nothing', status: 404 },
];
