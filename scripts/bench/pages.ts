import { PATHS } from '../../src/views/links.ts';
import { startNginx } from './nginx.ts';
import { getPeer } from './peers.ts';
import { ENCODINGS, listSlugs } from './requests.ts';
import { compare } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { startServing } from './serving.ts';
import { openReleasedWorld, type Run } from './world.ts';

/**
 * Measures the pages of listings, 100 in turn over connections that are kept, from our process beside one nginx worker that
 * serves the same release with the configuration of this project.
 */
export async function measurePages(run: Run, listings: number): Promise<Row[]> {
  const nginx = await getPeer('nginx', run.tell);
  if (!nginx) return [];
  const wrk = await getPeer('wrk', run.tell);
  if (!wrk) run.tell('  With autocannon, which is slower than nginx, trust cpu_ratio rather than ratio.');
  const world = await openReleasedWorld(run, listings);
  const server = await startServing(world);
  const { releasesDir, baseUrl } = world.config;
  const front = await startNginx(nginx, { folder: `${releasesDir}-nginx`, releasesDir, upstream: server.url, baseUrl });
  try {
    const slugs = await listSlugs(server.url);
    const rows: Row[] = [];
    for (const [name, headers] of Object.entries(ENCODINGS)) {
      const asked = slugs.map((slug) => ({ path: PATHS.listing(slug), headers }));
      const compared = await compare({ ...server, asked }, { ...front, asked }, { ...run, wrk });
      rows.push(
        buildRow({
          ...compared,
          listings,
          what: `page of a listing, ${name}`,
          beside: 'nginx, one worker',
        }),
      );
    }
    return rows;
  } finally {
    await Promise.all([server.stop(), front.stop()]);
  }
}
