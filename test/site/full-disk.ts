/**
 * What a full disk does to rebuilds, told as one JSON document. Run in a mount namespace of its own with the folder of a
 * small empty file system as its argument: the disk really is full.
 */
import { statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../src/errors.ts';
import { openRebuilder } from '../../src/site/rebuild.ts';
import { getContent, makeSiteFixture } from './site-fixture.ts';

const [disk = '', elsewhere = ''] = process.argv.slice(2);
const fixture = await makeSiteFixture(elsewhere, { count: 12, settings: { SITE: join(disk, 'site') } });
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
await attempt();
const after = getContent(config);
// From scratch, where there is nothing to build upon.
const whole = { ...config, siteDir: join(elsewhere, 'site') };
await rebuilder.rebuild({ config: whole });
console.log(JSON.stringify({ failures, before, during, after, scratch: getContent(whole) }));
await fixture.catalogue.close();
await rebuilder.close();
