import type { Logger } from 'pino';
import { type FollowedFiles, type Following, startFollowing } from '../published/follow.ts';

/** A published catalogue that is kept up to date, and since when it is not. */
export interface WatchedFollowing extends Following {
  /** Since when it has failed to follow, time and again; undefined while all is well. */
  findFailingSince(): Date | undefined;
}

/** Starts following as `startFollowing` does, logs each failure once, and remembers when the present ones began. */
export async function watchFollowing(
  files: FollowedFiles,
  { codeVersion, logger, now }: { codeVersion: string; logger: Logger; now: () => Date },
): Promise<WatchedFollowing> {
  let following: Following | undefined;
  let since = now();
  following = await startFollowing(files, codeVersion, (error) => {
    logger.error({ err: error }, 'the published catalogue cannot follow the catalogue');
    // A failure that comes after another one, of another kind, is still of the same time without following.
    if (following?.findFailure() === undefined) since = now();
  });
  const { findFailure, close } = following;
  return { findFailure, close, findFailingSince: () => (findFailure() === undefined ? undefined : since) };
}
