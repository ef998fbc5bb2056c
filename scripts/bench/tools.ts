import { getCodeVersion } from '../../src/release/code-version.ts';
import { findPageCode } from '../../src/release/page-code.ts';
import { getSite } from '../../src/release/release.ts';
import type { AstroServerOptions } from './astro-server.ts';
import { getPeer } from './peers.ts';
import { buildSearches, buildToolCall, listSlugs } from './requests.ts';
import { compare } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { startServer, startServing } from './serving.ts';
import { openReleasedWorld, type Run, type World } from './world.ts';

/** More calls than are made in all rounds, and many more than answers are kept. */
const UNREPEATED = 20_000;

/**
 * Measures a tool call over MCP beside the same call to the same endpoint through Astro's request pipeline, that is the
 * node adapter's handler, as it would be served without a server of our own.
 */
export async function measureTools(run: Run, listings: number): Promise<Row[]> {
  const world = await openReleasedWorld(run, listings);
  const wrk = await getPeer('wrk', run.tell);
  const [server, astro] = [await startServing(world), await startAstro(world)];
  const slugs = await listSlugs(server.url);
  const kinds = {
    search_listings: buildSearches().map((q) => buildToolCall({ q, limit: 5 })),
    get_listing: slugs.map((slug) => buildToolCall({ slug }, 'get_listing')),
    catalogue_summary: [buildToolCall({}, 'catalogue_summary')],
    'search_listings, another each time': buildSearches(UNREPEATED).map((q) => buildToolCall({ q, limit: 5 })),
  };
  try {
    const rows: Row[] = [];
    for (const [tool, asked] of Object.entries(kinds)) {
      const compared = await compare({ ...server, asked }, { ...astro, asked }, { ...run, wrk });
      rows.push(buildRow({ ...compared, listings, what: `MCP ${tool}`, beside: 'Astro pipeline' }));
    }
    return rows;
  } finally {
    await Promise.all([server.stop(), astro.stop()]);
  }
}

async function startAstro({ config }: World) {
  const entry = findPageCode(getCodeVersion())?.entry;
  if (!entry) throw new Error('The source files changed since the release was made: measure again.');
  const options: AstroServerOptions = { catalogueFile: config.catalogueFile, site: getSite(config), entry };
  return startServer('astro', options);
}
