/**
 * What a full disk does to rebuilds, told as one JSON document. Run in a mount namespace of its own with the folder of a
 * small empty file system and that of a fixture with its pages as its arguments: the disk really is full.
 */
import { cpSync, readdirSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../src/errors.ts';
import { asRebuildError } from '../../src/site/events.ts';
import { rebuild } from '../../src/site/rebuild.ts';
import { openSnapshotReadings } from '../../src/site/snapshot-reading.ts';
import { writeSite } from '../../src/site/write-site.ts';
import { getContent, makeSiteFixture } from './site-fixture.ts';

const [disk = '', elsewhere = ''] = process.argv.slice(2);
for (const name of readdirSync(elsewhere).filter((name) => name.startsWith('site')))
  cpSync(join(elsewhere, name), join(disk, name), { recursive: true });
const fixture = await makeSiteFixture(elsewhere, { count: 0, settings: { SITE: join(disk, 'site') } });
const { config } = fixture;
const readings = openSnapshotReadings(config);
/** Rebuilds in this process, as the process of a rebuild does. */
const rebuildHere = () =>
  writeSite({ config, readings, force: false, onEvent: () => undefined, now: () => new Date() });

const before = getContent(config);
await fixture.put([0, 1, 2], 'second');
const filler = join(disk, 'filler');
const failures: unknown[] = [];
for (const [blocksLeft, attempt] of [
  [0, rebuildHere],
  [3, () => rebuild({ config })],
] as const) {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail - blocksLeft) * bsize));
  await attempt().catch((thrown: unknown) => {
    const error = asRebuildError(thrown, config.siteDir);
    failures.push(error instanceof ServiceError && { ...error, message: error.message });
  });
  truncateSync(filler, 0);
}
const during = getContent(config);
await rebuildHere();
console.log(JSON.stringify({ failures, before, during, after: getContent(config) }));
readings.close();
await fixture.catalogue.close();
