import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIR } from '../site/page-code.ts';

/** Returns the name and version of this program, as `--version` prints them. */
export function getVersion(): string {
  const { name, version } = JSON.parse(readFileSync(join(PROJECT_DIR, 'package.json'), 'utf8'));
  return `${name} ${version}`;
}
