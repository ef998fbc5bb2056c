import './require-node.mjs';

const { runCommandLine } = await import('../src/commands/run.ts');
const { listenForStop } = await import('../src/commands/stopping.ts');

const { stdout, stderr } = process;
// A reader that has seen enough (`| head`) is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdout,
  stderr,
  signal: listenForStop(process, stderr),
  now: () => new Date(),
});
// The channel to a parent, where there is one, keeps no finished command alive.
process.channel?.unref();
