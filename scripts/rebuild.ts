import { formatAddress } from '../src/model/catalogue-address.ts';
import './require-node.mjs';
import type { RebuildEvent, RebuildResult } from '../src/site/events.ts';

const { endWithFailure, readArguments } = await import('./entry.ts');
const { addHint } = await import('../src/cli/failure.ts');
const { getFailure } = await import('../src/model/failure.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { openProgress } = await import('../src/cli/terminal/progress.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { describeRebuildEvent, describeRebuildResult } = await import('../src/site/events.ts');
const { goOnWhereUnread } = await import('./standard-streams.ts');

const USAGE = {
  line: 'npm run rebuild -- [--force] [--watch]',
  about: `Brings the pages in the folder SITE up to date with the catalogue: writes those that are new or show something else, and removes
those that are gone.

  --force       compiles and writes all pages, also those that did not change
  --watch       keeps running, and does so after each change of the catalogue
  -h, --help    shows this
  -V, --version shows the version

Settings are read from the environment and .env; .env.example lists them.`,
};

const { stdout, stderr } = process;
goOnWhereUnread(process);
const signal = listenForStop(process, () => undefined);

const progress = openProgress(stderr, 'Writing', 'pages');
const onEvent = (event: RebuildEvent) => {
  if (event.type === 'rendering') progress.update(event.done, event.total);
  else progress.note(event.type === 'said' ? event.text.trimEnd() : (describeRebuildEvent(event) ?? ''));
};
const onResult = (result: RebuildResult) => {
  progress.stop();
  stdout.write(`${describeRebuildResult(result)}\n`);
};
const onFailure = (error: unknown) => {
  progress.stop();
  const { message, hint } = addHint(getFailure(error));
  stderr.write(`error: ${message}\nhint: ${hint}\n`);
};

/** Runs `npm run rebuild -- [--force] [--watch]`: once, or with `--watch` after each change. */
async function run(): Promise<void> {
  const { values } = readArguments(USAGE, { force: { type: 'boolean' }, watch: { type: 'boolean' } });
  const { force = false, watch = false } = values;
  refuseKeys();
  const config = readConfig();
  // Loaded late, because these take long and a wrong command line or setting is refused before.
  const { rebuild } = await import('../src/site/rebuild.ts');
  const { watchAndRebuild } = await import('../src/site/watch.ts');
  if (force || !watch) onResult(await rebuild({ config, force, onEvent, signal }));
  if (!watch) return;
  stdout.write(`Following ${formatAddress(config.catalogueAddress)}; Ctrl-C ends it.\n`);
  await watchAndRebuild({ config, signal, onEvent, onResult, onFailure, onYield: onFailure });
}

try {
  await run();
  process.exit(0);
} catch (error) {
  progress.stop();
  endWithFailure(error);
}
