import './require-node.mjs';

const { runCommandLine } = await import('../src/cli/run.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { endWhereUnread } = await import('./standard-streams.ts');

const { stdout, stderr } = process;
endWhereUnread(process);
process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdout,
  stderr,
  signal: listenForStop(process, () => {
    stderr.write('\nStopping at the next safe point. Ctrl-C again stops at once.\n');
  }),
  now: () => new Date(),
});
// The channel to a parent would keep a finished command alive.
process.channel?.unref();
