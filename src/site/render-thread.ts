/** Helps to write pages in a thread, which reads the published catalogue itself. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config.ts';
import type { Reading } from '../published/reading.ts';
import { getPublishedState, type PublishedState } from '../published/state.ts';
import type { PageCode } from './page-code.ts';
import { getSitePaths } from './paths.ts';
import { loadPageCode, type RenderPage, type StalePage, type WrittenPage, writePages } from './rendering.ts';
import { openSnapshotReading } from './snapshot-reading.ts';

/** Work of a thread: some pages, all of one state of the published catalogue. */
export interface RenderTask {
  readonly config: Config;
  readonly code: PageCode;
  readonly state: PublishedState;
  readonly pages: readonly StalePage[];
}

let opened: Promise<{ reading: Reading; render: RenderPage }> | undefined;

/** Renders and writes pages: see `writePages`. Undefined if the catalogue changed before this thread opened it. */
export default async function work({ config, code, state, pages }: RenderTask): Promise<WrittenPage[] | undefined> {
  opened ??= loadPageCode(code).then((render) => ({ reading: openSnapshotReading(config), render }));
  const { reading, render } = await opened;
  if (!isDeepStrictEqual(getPublishedState(reading.published), state)) return undefined;
  return await writePages(pages, { render, reading, folder: getSitePaths(config.siteDir).unfinished });
}
