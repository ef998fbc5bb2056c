import { readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { compressPage } from '../../src/release/forms.ts';
import { openRebuilder } from '../../src/release/rebuild.ts';
import { findCurrentRelease } from '../../src/release/release.ts';
import { findReleasePages } from '../../src/release/release-pages.ts';
import { PATHS } from '../../src/views/links.ts';
import { startChild, waitForEnd } from './children.ts';
import { buildWithHugo } from './hugo.ts';
import { getPeer } from './peers.ts';
import { getMedian } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';
import { watchPeak } from './usage.ts';
import { openWorld, REBUILD, type Run, runRebuild, type World } from './world.ts';

/** From so many listings on, one of each is enough: it takes a minute. */
const LARGE = 100_000;

/** Goals at the sizes that have them: a full rebuild beside Hugo's, and one change in seconds. */
const GOALS: Readonly<Record<number, { full: string; change: string }>> = {
  10000: { full: '≤ 0.7', change: '< 1' },
};

/**
 * Measures rebuilding: every page beside Hugo making those of the listings, and one change, which the process that `npm start`
 * keeps for it makes from the write to the swapped release, and the command from its start to its end. The pages are
 * compiled before, once for each version of the code.
 */
export async function measureRebuilds(run: Run, listings: number): Promise<Row[]> {
  const world = await openWorld(run, listings, 'releases-rebuilds');
  run.tell('Compiling the pages, where that is still to do …');
  await runRebuild(world);
  const catalogue = openCatalogue(world.config.catalogueFile, { identity: '', at: new Date().toISOString() });
  try {
    const { rounds } = run;
    const goal = GOALS[listings]?.change;
    const resident = await measureResident(world, catalogue, rounds);
    const command = await measureCommand(world, catalogue, rounds);
    // Last, since what they have written is on its way to the disk for a while.
    const full = await measureFull(run, world);
    return [
      ...full,
      buildRow({ listings, what: 'one change, from the write to the swap', unit: 's', ours: resident, goal }),
      buildRow({ listings, what: 'one change, npm run rebuild', unit: 's', ours: command }),
    ];
  } finally {
    catalogue.close();
  }
}

async function measureFull(run: Run, world: World): Promise<Row[]> {
  const { listings } = world;
  const hugo = await getPeer('hugo', run.tell);
  const [ours, peaks]: [number[], number[]] = [[], []];
  const theirs: Record<'exporting' | 'building' | 'bytes' | 'peaks', number[]> = {
    exporting: [],
    building: [],
    bytes: [],
    peaks: [],
  };
  let bytes = 0;
  let compressing = 0;
  for (let round = 0; round < (listings >= LARGE ? 1 : Math.min(3, run.rounds)); round += 1) {
    run.tell(`Rendering every page${hugo ? ', and Hugo' : ''} …`);
    // A new folder each time, for both, and nothing is removed before the last: ext4 takes many times as long for a new file
    // while it passes over the places of some that were removed in the last minutes.
    const made = await openWorld(run, listings, `releases-full-${round}`);
    const { seconds, peak } = await timeRebuild(made);
    ours.push(seconds);
    bytes = getMeanBytes(made);
    compressing = timeCompressing(made);
    if (peak !== undefined) peaks.push(peak);
    if (!hugo) continue;
    const folder = join(run.folder, `hugo-${listings}-${round}`);
    const { exporting, building, bytes: size, peak: most } = await buildWithHugo(hugo, world, folder);
    theirs.exporting.push(exporting);
    theirs.building.push(building);
    theirs.bytes.push(size);
    if (most !== undefined) theirs.peaks.push(most);
  }
  const exporting = hugo && getMedian(theirs.exporting);
  const building = hugo && getMedian(theirs.building);
  const whole = exporting === undefined || building === undefined ? undefined : exporting + building;
  const seconds = { listings, unit: 's', ours: getMedian(ours) };
  const beside = hugo && 'Hugo and its data export';
  const goal = GOALS[listings]?.full;
  return [
    buildRow({ ...seconds, what: 'every page', beside, theirs: whole }),
    buildRow({
      ...{ ...seconds, ours: seconds.ours - compressing, what: 'every page, its compressed forms not counted' },
      ...{ beside, theirs: whole, goal },
    }),
    ...(hugo
      ? [
          buildRow({ ...seconds, what: 'every page', beside: 'Hugo, data not counted', theirs: building }),
          buildRow({
            ...{ listings, what: 'page of a listing, on average', unit: 'kB', beside: 'Hugo' },
            ...{ ours: bytes / 1000, theirs: getMedian(theirs.bytes) / 1000 },
          }),
        ]
      : []),
    ...(peaks.length === 0
      ? []
      : [
          buildRow({
            ...{ listings, what: 'every page: most memory', unit: 'MB', ours: Math.max(...peaks) / 1e6 },
            ...(theirs.peaks.length > 0 && { beside: 'Hugo', theirs: Math.max(...theirs.peaks) / 1e6 }),
          }),
        ]),
  ];
}

/** Times the compressing of every page of the current release as a rebuild does it, on all cores; seconds. */
function timeCompressing({ config }: World): number {
  const release = findCurrentRelease(config.releasesDir);
  const pages = [...((release && findReleasePages(release)) ?? [])];
  let ms = 0;
  for (const [, { file }] of pages) {
    const body = readFileSync(join(config.releasesDir, 'current', file));
    const started = performance.now();
    compressPage(body);
    ms += performance.now() - started;
  }
  return ms / 1000 / availableParallelism();
}

/** Gives the size of a listing's page in the current release, on average. */
function getMeanBytes({ config }: World): number {
  const release = findCurrentRelease(config.releasesDir);
  const pages = [...((release && findReleasePages(release)) ?? [])].filter(([path]) =>
    path.startsWith(PATHS.listing('')),
  );
  return pages.reduce((sum, [, { bytes }]) => sum + bytes, 0) / pages.length;
}

/** Runs the command, process start included. */
async function timeRebuild({ env }: World): Promise<{ seconds: number; peak: number | undefined }> {
  const started = performance.now();
  const child = startChild(process.execPath, REBUILD, { env, stderr: 'pipe' });
  const peak = await watchPeak(child.pid ?? 0, waitForEnd(child));
  return { seconds: (performance.now() - started) / 1000, peak };
}

async function measureResident({ config }: World, catalogue: Catalogue, rounds: number): Promise<number> {
  const rebuilder = openRebuilder({ background: true });
  const current = join(config.releasesDir, 'current');
  const times: number[] = [];
  try {
    // The first one reads what the process then keeps.
    for (let round = -1; round < rounds; round += 1) {
      change(catalogue, round);
      const [before, started] = [readlinkSync(current), performance.now()];
      const made = rebuilder.rebuild({ config });
      while (readlinkSync(current) === before) await Promise.race([made, sleep(1)]);
      if (round >= 0) times.push((performance.now() - started) / 1000);
      await made;
    }
  } finally {
    await rebuilder.close();
  }
  return getMedian(times);
}

async function measureCommand(world: World, catalogue: Catalogue, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    change(catalogue, round + 1000);
    times.push((await timeRebuild(world)).seconds);
  }
  return getMedian(times);
}

/** Changes what readers see of one listing. */
function change(catalogue: Catalogue, round: number): void {
  const declaration = buildSyntheticDeclaration((round + 1) * 7);
  const tagline = `Changed in round ${round}: ${declaration.tagline}`;
  writeCatalogue(catalogue, new Date().toISOString(), (writing) =>
    recordDeclaration(writing, { ...declaration, tagline }),
  );
}
