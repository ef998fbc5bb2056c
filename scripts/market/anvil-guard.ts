import { spawn } from 'node:child_process';

// `node anvil-guard.ts <anvil> <argument…>` runs a chain, and ends it when its parent ends. Node cannot ask the system for
// that, but the parent's end of a pipe is closed even by `kill -9`.

const [program = '', ...parameters] = process.argv.slice(2);
const chain = spawn(program, parameters, { stdio: ['ignore', 'inherit', 'inherit'] });

chain.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
chain.on('exit', (code) => process.exit(code ?? 1));

const end = () => chain.kill('SIGKILL');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
process.stdin.on('end', end).on('error', end).resume();
