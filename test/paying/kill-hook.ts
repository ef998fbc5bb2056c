/**
 * Loaded before the command: kills the process once so many files were synced, each of which is a step in the payer's
 * journal (the first is its folder): at once, so that the journal has the step and the catalogue has not; or, with
 * KILL_LATER, when the catalogue has it as well and what follows has not left.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fsyncSync } = fs;
let left = Number(process.env.KILL_AT_SYNC);

fs.fsyncSync = (handle) => {
  fsyncSync(handle);
  left -= 1;
  if (left !== 0) return;
  const kill = () => process.kill(process.pid, 'SIGKILL');
  if (process.env.KILL_LATER === 'yes') setImmediate(kill);
  else kill();
};
syncBuiltinESMExports();
