import { runCommandLine } from '../../../src/cli/run.ts';

/** Runs a command of the operator in a process of its own, whose clock begins at the given time: `command-at.ts <time> <command> …`. */
const [start = '', ...args] = process.argv.slice(2);
const now = () => new Date(Date.parse(start) + performance.now());
const { stdout, stderr } = process;
process.exitCode = await runCommandLine(args, { stdout, stderr, now, signal: new AbortController().signal });
