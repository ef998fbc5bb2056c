import type { Catalogue } from '../src/catalogue/database.ts';
import { openFollowedReading } from '../src/published/follow.ts';
import type { Reading } from '../src/published/reading.ts';
import type { Site } from '../src/views/site.ts';
import { SITE } from './site.ts';

let opened = 0;

/** Opens a reading of a catalogue, from a published file of its own that is brought up to date whenever it is read. */
export function openTestReading(
  { file }: Pick<Catalogue, 'file'>,
  { site = SITE, now }: { site?: Site; now?: () => Date } = {},
): Reading & { close(): void } {
  opened += 1;
  const files = { catalogueFile: file, publishedFile: `${file}.${opened}.published` };
  return openFollowedReading(files, { site, codeVersion: 'test', now });
}
