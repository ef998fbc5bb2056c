import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { openRebuilder, type Rebuilder } from '../../src/site/rebuild.ts';
import { makeSiteFixture, type SiteFixture } from './site-fixture.ts';

let rebuilder: Rebuilder | undefined;

/**
 * Rebuilds as `rebuild` does, in one process for all tests of a worker, which saves starting it each time. That ends
 * with the worker.
 */
export const rebuildAgain: Rebuilder['rebuild'] = (options) => {
  rebuilder ??= openRebuilder();
  return rebuilder.rebuild(options);
};

/** The files of a fixture with its pages, by their path in its folder. */
let writtenOnce: Promise<Map<string, Buffer>> | undefined;

/**
 * Makes a fixture of eight listings whose pages are written. They are rendered once for each process, so `settings` are none
 * that pages show.
 */
export async function makeWritten(folder: string, settings: Record<string, string> = {}): Promise<SiteFixture> {
  writtenOnce ??= writeOnce(folder);
  const written = await writtenOnce;
  for (const inner of new Set([...written.keys()].map((path) => dirname(path))))
    mkdirSync(join(folder, inner), { recursive: true });
  for (const [path, bytes] of written) writeFileSync(join(folder, path), bytes);
  return await makeSiteFixture(folder, { count: 0, settings });
}

async function writeOnce(folder: string): Promise<Map<string, Buffer>> {
  const { config, catalogue } = await makeSiteFixture(folder);
  await rebuildAgain({ config });
  await catalogue.close();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((file) => [relative(folder, file), readFileSync(file)]));
}
