/** A process that follows a catalogue into a published file until it is killed. */

import { startFollowing } from '../../../src/published/live-file.ts';
import { SITE } from '../../site.ts';

const [catalogueAddress = '', publishedFile = ''] = process.argv.slice(2);
await startFollowing({ catalogueAddress, publishedFile, baseUrl: SITE.baseUrl }, 'campaign', (error) =>
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`),
);
setInterval(() => undefined, 60_000);
