import { cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild, startChild, waitForEnd } from './children.ts';
import type { Peer } from './peers.ts';
import { watchPeak } from './usage.ts';
import type { World } from './world.ts';

/** Templates of the very pages that ours are for synthetic listings, of which none was probed or paid. */
const SITE = join(import.meta.dirname, 'hugo');

/** What Hugo takes for the listings of a catalogue, in seconds and bytes. */
export interface HugoBuild {
  /** Reading the catalogue and writing the content files that Hugo reads. */
  readonly exporting: number;
  readonly building: number;
  /** Size of a listing's page, on average. */
  readonly bytes: number;
  readonly peak: number | undefined;
}

/** Builds the listings of a catalogue with Hugo, from nothing, data export included, in a folder that is not there. */
export async function buildWithHugo({ command, env }: Peer, world: World, folder: string): Promise<HugoBuild> {
  mkdirSync(folder, { recursive: true });
  cpSync(SITE, folder, { recursive: true });
  const exporter = fileURLToPath(new URL('./hugo-export.ts', import.meta.url));
  const started = performance.now();
  await runChild(process.execPath, [exporter, folder], { env: world.env });
  const exported = performance.now();
  const args = ['--quiet', '--source', folder, '--cacheDir', join(folder, 'cache')];
  const child = startChild(command, args, { env, stderr: 'pipe' });
  const peak = await watchPeak(child.pid ?? 0, waitForEnd(child));
  const building = (performance.now() - exported) / 1000;
  const pages = join(folder, 'public/api');
  const sizes = readdirSync(pages).map((name) => statSync(join(pages, name)).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return { exporting: (exported - started) / 1000, building, bytes, peak };
}
