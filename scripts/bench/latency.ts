import { setTimeout as sleep } from 'node:timers/promises';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { openRebuilder } from '../../src/release/rebuild.ts';
import { PATHS } from '../../src/views/links.ts';
import { ENCODINGS } from './requests.ts';
import { getMedian, getPercentile } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { readAnswer, type Serving, startBare, startServing } from './serving.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';
import { openReleasedWorld, openWorld, type Run, type World } from './world.ts';

/** How often the document is asked for while something goes on, in milliseconds. */
const PAUSE_MS = 20;
const ASKED_AT_REST = 100;
const CHANGES = 20;

/**
 * Measures how long the large document takes where that is hard: to its first byte while every page is rendered beside it, in
 * the background as `npm start` does it, and in all when it is the first after one listing changed.
 */
export async function measureLatency(run: Run, listings: number): Promise<Row[]> {
  const world = await openReleasedWorld(run, listings);
  const server = await startServing(world);
  try {
    const rows = await measureBesideRebuild(run, world, server);
    for (const [name, headers] of Object.entries(ENCODINGS)) rows.push(await measureNext(world, server, name, headers));
    return rows;
  } finally {
    await server.stop();
  }
}

async function measureBesideRebuild(run: Run, { listings }: World, server: Serving): Promise<Row[]> {
  const asked = { path: PATHS.openapi, headers: { 'accept-encoding': 'gzip' } };
  const bare = await startBare(server.url, [asked]);
  const ask = async ({ url }: Serving, times: number[]) => {
    times.push((await readAnswer(url, asked)).firstByteMs);
    await sleep(PAUSE_MS);
  };
  const rest: number[] = [];
  for (let count = 0; count < ASKED_AT_REST; count += 1) await ask(server, rest);
  const { config } = await openWorld(run, listings, 'releases-beside');
  const rebuilder = openRebuilder({ background: true });
  let isOver = false;
  const rebuilt = rebuilder.rebuild({ config }).finally(() => {
    isOver = true;
  });
  const [ours, theirs]: [number[], number[]] = [[], []];
  while (!isOver) {
    await ask(server, ours);
    await ask(bare, theirs);
  }
  await rebuilt;
  await Promise.all([rebuilder.close(), bare.stop()]);
  const base = { listings, unit: 'ms', beside: 'bare server' };
  const row = (share: number) => {
    const figures = { ours: getPercentile(ours, share), theirs: getPercentile(theirs, share) };
    return buildRow({ ...base, what: `first byte beside a full rebuild, ${share * 100} % within`, ...figures });
  };
  const atRest = buildRow({ listings, unit: 'ms', what: 'first byte at rest, 50 % within', ours: getMedian(rest) });
  return [atRest, row(0.5), row(0.99)];
}

/** Times the first document after each of some changes, beside one after none. */
async function measureNext(
  { listings, config }: World,
  server: Serving,
  name: string,
  headers: Readonly<Record<string, string>>,
): Promise<Row> {
  const asked = { path: PATHS.openapi, headers };
  const at = () => new Date().toISOString();
  const catalogue = openCatalogue(config.catalogueFile, { identity: '', at: at() });
  const [next, again]: [number[], number[]] = [[], []];
  try {
    for (let change = 0; change < CHANGES; change += 1) {
      const declaration = buildSyntheticDeclaration((change * 7) % listings);
      const tagline = `Changed at ${performance.now()}: ${declaration.tagline}`;
      writeCatalogue(catalogue, at(), (writing) => recordDeclaration(writing, { ...declaration, tagline }));
      next.push((await readAnswer(server.url, asked)).ms);
      again.push((await readAnswer(server.url, asked)).ms);
    }
  } finally {
    catalogue.close();
  }
  const figures = { unit: 'ms', ours: getMedian(next), beside: 'the one after it', theirs: getMedian(again) };
  return buildRow({ listings, what: `document after one change, ${name}`, ...figures });
}
