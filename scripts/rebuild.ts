import './require-node.mjs';
import type { RebuildEvent, RebuildResult } from '../src/release/events.ts';

const { parseArgs } = await import('node:util');
const { buildUsageFailure, EXIT, getExitCode, getFailure } = await import('../src/commands/failure.ts');
const { openProgress } = await import('../src/commands/terminal/progress.ts');
const { getErrorMessage } = await import('../src/errors.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { rebuild } = await import('../src/release/rebuild.ts');
const { watchAndRebuild } = await import('../src/release/watch.ts');
const { describeRebuildEvent, describeRebuildResult } = await import('../src/release/words.ts');
const { goOnWhereUnread } = await import('./standard-streams.ts');

const { stdout, stderr } = process;
goOnWhereUnread(process);
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

const progress = openProgress(stderr, 'Rendering', 'pages', () => performance.now());
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
  const { message, hint } = getFailure(error);
  stderr.write(`error: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
};

/** `npm run rebuild -- [--force] [--watch]`: one release, or one whenever the catalogue is ahead. */
async function run(): Promise<number> {
  const { force, watch } = readOptions();
  refuseKeys();
  const config = readConfig();
  if (force || !watch) onResult(await rebuild({ config, force, onEvent, signal: stopping.signal }));
  if (!watch) return EXIT.done;
  stdout.write(`Following ${config.catalogueFile}; Ctrl-C ends it.\n`);
  await watchAndRebuild({ config, signal: stopping.signal, onEvent, onResult, onFailure, onYield: onFailure });
  return EXIT.done;
}

function readOptions(): { force: boolean; watch: boolean } {
  try {
    const { values } = parseArgs({ options: { force: { type: 'boolean' }, watch: { type: 'boolean' } } });
    return { force: values.force ?? false, watch: values.watch ?? false };
  } catch (error) {
    throw buildUsageFailure(getErrorMessage(error), 'npm run rebuild -- [--force] [--watch]');
  }
}

try {
  process.exitCode = await run();
} catch (error) {
  onFailure(error);
  process.exitCode = getExitCode(getFailure(error));
}
