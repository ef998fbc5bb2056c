import './require-node.mjs';

const { endWithFailure, readArguments } = await import('./entry.ts');
const { openPageCode } = await import('../src/site/compiling.ts');
const { describeRebuildEvent } = await import('../src/site/events.ts');
const { goOnWhereUnread } = await import('./standard-streams.ts');

const USAGE = {
  line: 'npm run compile',
  about: `Compiles the pages of this version of the code, so that the service, started by a user who may not write to its
folder, need not. Done once for each version, when it is installed.

  -h, --help    shows this
  -V, --version shows the version`,
};

const { stdout, stderr } = process;
goOnWhereUnread(process);

try {
  readArguments(USAGE, {});
  const { version } = await openPageCode({
    onEvent: (event) => stderr.write(`${event.type === 'said' ? event.text.trimEnd() : describeRebuildEvent(event)}\n`),
  });
  stdout.write(`The pages of version ${version} are compiled.\n`);
  process.exit(0);
} catch (error) {
  endWithFailure(error);
}
