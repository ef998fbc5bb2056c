/**
 * Runs the inspector's command line once for each list of arguments (the first argument, as JSON), one after the other in
 * this one process, which saves the start of a process for each. A record separator follows what each prints. At the first
 * call that fails the inspector says why and ends the process with its own exit code.
 */
const INSPECTOR = '@modelcontextprotocol/inspector/clients/cli/build/index.js';

const { runCli, handleError } = await import(INSPECTOR);
const calls: string[][] = JSON.parse(process.argv[2] ?? '[]');
for (const args of calls) {
  try {
    await runCli(['node', 'inspector', ...args]);
    process.stdout.write('\u001e');
  } catch (error) {
    await handleError(error);
  }
}
