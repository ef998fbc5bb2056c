import { PATHS } from '../../src/views/links.ts';
import { getPeer } from './peers.ts';
import { buildChecks, buildSearches, ENCODINGS, listSlugs } from './requests.ts';
import { type Asked, type Compared, compare, type RoundsOptions } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { readAnswer, startBare, startServing } from './serving.ts';
import { openReleasedWorld, type Run } from './world.ts';

/** One kind of document: what is asked in turn. */
interface Kind {
  readonly what: string;
  readonly paths: readonly string[];
}

/**
 * Measures the live documents against a bare node:http server that sends the very bytes they answered with, at one
 * catalogue size. Both run as processes of their own; rounds alternate.
 */
export async function measureDocuments(run: Run, listings: number): Promise<Row[]> {
  const world = await openReleasedWorld(run, listings);
  const options = { ...run, wrk: await getPeer('wrk', run.tell) };
  const server = await startServing(world);
  try {
    const rows: Row[] = [];
    for (const kind of await listKinds(server.url, listings)) {
      for (const [name, headers] of Object.entries(ENCODINGS)) {
        const asked = kind.paths.map((path) => ({ path, headers }));
        const compared = await measureKind(server, asked, options);
        rows.push(
          buildRow({
            ...compared,
            listings,
            beside: 'bare server',
            what: `${kind.what}, ${name}${await formatSize(server.url, asked)}`,
          }),
        );
      }
    }
    return rows;
  } finally {
    await server.stop();
  }
}

async function listKinds(url: string, listings: number): Promise<Kind[]> {
  const slugs = await listSlugs(url);
  const searches = buildSearches().map((q) => `${PATHS.agentList}?${new URLSearchParams({ q, limit: '20' })}`);
  return [
    { what: PATHS.openapi, paths: [PATHS.openapi] },
    { what: PATHS.agentList, paths: [PATHS.agentList] },
    { what: PATHS.agentListing('{slug}'), paths: slugs.map(PATHS.agentListing) },
    { what: `${PATHS.agentCheck}?url=…`, paths: buildChecks(listings) },
    { what: `${PATHS.agentList}?q=…, again and again`, paths: searches },
  ];
}

async function measureKind(
  server: { url: string; pid: number },
  asked: readonly Asked[],
  options: RoundsOptions,
): Promise<Compared> {
  const bare = await startBare(server.url, asked);
  try {
    return await compare({ ...server, asked }, { ...bare, asked }, options);
  } finally {
    await bare.stop();
  }
}

async function formatSize(url: string, [first]: readonly Asked[]): Promise<string> {
  if (!first) return '';
  const bytes = Buffer.from((await readAnswer(url, first)).body, 'base64').length;
  return bytes < 1e6 ? ` (${(bytes / 1e3).toFixed(1)} kB)` : ` (${(bytes / 1e6).toFixed(1)} MB)`;
}
