import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';

export const ROOT = resolve(import.meta.dirname, '../..');
export const DEPLOY = join(ROOT, 'scripts/deploy');

/** Reads a file of `scripts/deploy`. */
export function readDeployed(path: string): string {
  return readFileSync(join(DEPLOY, path), 'utf8');
}

/** Lists the files of a folder of `scripts/deploy` whose names end so. */
export function listDeployed(folder: string, ending: string): string[] {
  return readdirSync(join(DEPLOY, folder)).filter((name) => name.endsWith(ending));
}

/** Runs a program; undefined where this machine does not have it. */
export function runTool(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): { code: number | null; said: string } | undefined {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (error && 'code' in error && error.code === 'ENOENT') return undefined;
  return { code: status, said: `${stdout}${stderr}` };
}

/** The names of all settings, as the examples have them. */
export const SETTINGS: ReadonlySet<string> = new Set(
  ['.env.example', '.env.payer.example'].flatMap((name) =>
    Object.keys(parseEnv(readFileSync(join(ROOT, name), 'utf8'))),
  ),
);

/** Variables that are not settings of the service, but of Node, npm and the reading of settings itself. */
export const OTHER_VARIABLES: readonly string[] = ['ENV_FILES', 'NODE_COMPILE_CACHE', 'NODE_ENV'];

/** The words of a command line of `package.json` behind the program. */
export function getScriptWords(name: 'start' | 'catalogue'): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return String(scripts[name]).replace('exec node ', '').split(' ');
}
