/**
 * What a full disk does to rebuilds, told as one JSON document. Run in a mount namespace of its own with the folder of a
 * small empty file system as its argument: the disk really is full.
 */
import { statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../src/errors.ts';
import { openRebuilder } from '../../src/release/rebuild.ts';
import { getContent, listReleaseFolders, makeReleaseFixture } from './release-fixture.ts';

const [disk = '', elsewhere = ''] = process.argv.slice(2);
const fixture = await makeReleaseFixture(elsewhere, { count: 12, settings: { RELEASES: join(disk, 'dist') } });
const { config } = fixture;
const rebuilder = openRebuilder();
const failures: unknown[] = [];
const attempt = async () => {
  try {
    await rebuilder.rebuild({ config });
  } catch (error) {
    failures.push(error instanceof ServiceError && { ...error, message: error.message });
  }
};

await attempt();
const before = getContent(config);
await fixture.put([0, 1, 2], 'second');
const filler = join(disk, 'filler');
for (const leave of [0, 3]) {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail - leave) * bsize));
  await attempt();
  truncateSync(filler, 0);
}
const during = getContent(config);
const folders = listReleaseFolders(fixture);
await attempt();
const after = getContent(config);
// From scratch, where there is nothing to build upon.
const whole = { ...config, releasesDir: join(elsewhere, 'dist') };
await rebuilder.rebuild({ config: whole });
console.log(JSON.stringify({ failures, before, during, folders, after, scratch: getContent(whole) }));
await fixture.catalogue.close();
await rebuilder.close();
