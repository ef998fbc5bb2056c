import { openRebuilder, type Rebuilder } from '../../src/site/rebuild.ts';

let rebuilder: Rebuilder | undefined;

/**
 * Rebuilds as `rebuild` does, in one process for all tests of a worker, which saves starting it each time. That ends
 * with the worker.
 */
export const rebuildAgain: Rebuilder['rebuild'] = (options) => {
  rebuilder ??= openRebuilder();
  return rebuilder.rebuild(options);
};
