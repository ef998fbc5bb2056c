import { isDeepStrictEqual } from 'node:util';
import { buildCursor } from '../../src/published/cursor.ts';
import { PATHS } from '../../src/views/links.ts';
import {
  type Asked,
  ask,
  buildGet,
  buildListPath,
  buildRow,
  compareServers,
  type Goal,
  type Query,
  type Row,
} from './measuring.ts';
import { EXPRESS, startExpressDirectory, startExpressDiscovery } from './peers.ts';
import { createRandom, pickWords } from './synthetic.ts';
import { listShuffledSlugs, openWrittenWorld, type Run, type Server, startService, type World } from './world.ts';

/** A kind of request that is measured beside an Express peer, by default the directory. */
interface Kind {
  readonly build: () => Asked;
  readonly isOfDiscovery?: boolean;
  readonly goal?: Goal;
  /** The two answer in forms or orders of their own, which are not compared. */
  readonly differs?: boolean;
}

/** Measures each kind of request beside Express servers of the same records. */
export async function measureDirectory(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const [directory, discovery] = [await startExpressDirectory(world), await startExpressDiscovery(world)];
  const ours = await startService(world);
  try {
    // The search index is built beside answers after a start, which is measured there; a search waits for it.
    await ask(ours, buildGet(buildListPath({ q: 'weather forecast' })));
    const rows: Row[] = [];
    for (const [what, { build, isOfDiscovery, goal, differs }] of Object.entries(await openKinds(world))) {
      const theirs = isOfDiscovery ? discovery : directory;
      if (!differs) await checkAlike(ours, theirs, build());
      const compared = await compareServers({ ours, theirs, rounds: run.rounds, requestsPerRound: 200, build });
      rows.push(buildRow({ ...compared, listings, what, beside: EXPRESS, goal }));
    }
    return rows;
  } finally {
    await Promise.all([ours, directory, discovery].map(({ stop }) => stop()));
  }
}

/** Opens the kinds of requests for the records of a world. */
async function openKinds(world: World): Promise<Readonly<Record<string, Kind>>> {
  const random = createRandom(11);
  const getSlug = await openSlugs(world);
  const getNumber = openNumbers();
  const pickRequest = (words: number) => ({ q: pickWords(random, words), limit: 20 });
  /** Asks for 50 listings of at most a price that is another one each time. */
  const list = (query: Query = {}): Kind => ({
    build: () => buildGet(buildListPath({ limit: 50, ...query, max_price_usdc: `0.${100_000 + getNumber()}` }), 'gzip'),
    goal: 'cpu_ratio ≥ 0.8',
  });
  return {
    'one listing as JSON': { build: () => buildGet(PATHS.agentListing(getSlug())), goal: 'cpu_ratio ≥ 0.8' },
    'one listing as JSON, gzip': {
      build: () => buildGet(PATHS.agentListing(getSlug()), 'gzip'),
      goal: 'cpu_ratio ≥ 1.5',
    },
    'first view of a page, br': {
      build: () => buildGet(PATHS.listing(getSlug()), 'br'),
      goal: 'cpu_ratio ≥ 1.2',
      differs: true,
    },
    'list by name, gzip': list(),
    'list by price, gzip': list({ sort: 'price' }),
    'list by price of a category, gzip': list({ sort: 'price', category: 'Tools' }),
    'list by price, four filters, gzip': list({
      sort: 'price',
      category: 'Tools',
      network: 'solana',
      verified: 'false',
    }),
    'list by name from a cursor, gzip': {
      build: () => {
        const query = { max_price_usdc: String((100_000 + getNumber()) / 1_000_000) };
        const cursor = buildCursor({ after: { key: 0, slug: getSlug() } }, query, 'name');
        return buildGet(buildListPath({ ...query, limit: 50, cursor }), 'gzip');
      },
      goal: 'cpu_ratio ≥ 0.8',
    },
    'list with facets, gzip': list({ limit: 20, facets: 'true' }),
    '50 of /discovery/resources, gzip': {
      // A prime as the step, so that all offsets come before any comes again.
      build: () =>
        buildGet(`${PATHS.discoveryResources}?limit=50&offset=${(getNumber() * 7919) % (4 * world.listings)}`, 'gzip'),
      isOfDiscovery: true,
      goal: 'cpu_ratio ≥ 0.8',
    },
    '20 of /discovery/search, gzip': {
      build: () => {
        const { q: query, limit } = pickRequest(3);
        return buildGet(`${PATHS.discoverySearch}?${new URLSearchParams({ query, limit: String(limit) })}`, 'gzip');
      },
      isOfDiscovery: true,
      differs: true,
    },
    'search in two to five words, gzip': {
      build: () => buildGet(buildListPath(pickRequest(2 + Math.floor(random() * 4))), 'gzip'),
      goal: 'cpu_ratio ≥ 2',
      differs: true,
    },
  };
}

/** Checks that two servers say the same: what is listed and how many match, or all of a document. */
async function checkAlike(ours: Server, theirs: Server, { path }: Asked): Promise<void> {
  const [our, their] = await Promise.all(
    [ours, theirs].map(async (server) => {
      const {
        catalogue: _catalogue,
        filters: _filters,
        next_cursor: _cursor,
        ...said
      } = JSON.parse((await ask(server, buildGet(path))).body.toString());
      return { ...said, ...(said.facets && { facets: listFacets(said.facets) }) };
    }),
  );
  if (!isDeepStrictEqual(their, our)) throw new Error(`The two servers answer ${path} otherwise.`);
}

/** Lists the counts of all facets in one order, without those of nothing. */
function listFacets(facets: Readonly<Record<string, readonly { value: string; count: number }[]>>): string[] {
  return Object.entries(facets)
    .flatMap(([name, counts]) => counts.map(({ value, count }) => ({ count, text: `${name} ${value}: ${count}` })))
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .sort();
}

/** Opens a counter. */
function openNumbers(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

/** Opens a source of slugs: those of a catalogue in a random order, over and over. */
async function openSlugs(world: World): Promise<() => string> {
  const slugs = await listShuffledSlugs(world);
  const getNumber = openNumbers();
  return () => slugs[getNumber() % slugs.length] ?? '';
}
