/** Compiles the pages once, in a process of its own, into the given folder. It ends with its parent. */
import { relative } from 'node:path';
import { build } from 'astro';
import { getErrorMessage } from '../errors.ts';
import { PROJECT_DIR } from './page-code.ts';

process.once('disconnect', () => process.exit(1));

const [folder] = process.argv.slice(2);
try {
  if (!folder) throw new Error('No folder to compile into was given.');
  await build({ root: PROJECT_DIR, outDir: `./${relative(PROJECT_DIR, folder)}`, logLevel: 'error' });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${getErrorMessage(error)}\n`);
  process.exit(1);
}
