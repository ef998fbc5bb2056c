import { fork } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../errors.ts';
import { getCodeVersion, PROJECT_DIR } from './code-version.ts';
import type { OnRebuildEvent } from './events.ts';
import { isFileError, listNames } from './folders.ts';
import { acquireLock } from './lock.ts';

/** Compiled pages belong to the project, whatever RELEASES is: Astro compiles inside it. */
export const CODE_DIR = join(PROJECT_DIR, 'dist/code');
const BUILDER = join(import.meta.dirname, 'page-code-builder.ts');
const ATTEMPTS = 3;

/** The compiled pages of one code version. */
export interface PageCode {
  readonly version: string;
  /** The module whose `handler` renders pages. */
  readonly entry: string;
  /** What browsers load: `_astro/*`. */
  readonly clientDir: string;
}

/** Finds the compiled pages of a code version. Undefined unless they are complete: only then does the folder have its name. */
export function findPageCode(version: string): PageCode | undefined {
  const folder = join(CODE_DIR, version);
  if (!existsSync(folder)) return undefined;
  return { version, entry: join(folder, 'server/entry.mjs'), clientDir: join(folder, 'client') };
}

/**
 * Gives the compiled pages of the code as it stands, and compiles them first if nobody has. Whoever comes while another
 * process compiles waits for that. Throws `unavailable` where compiling fails.
 */
export async function openPageCode(onEvent: OnRebuildEvent): Promise<PageCode> {
  const known = findPageCode(getCodeVersion());
  if (known) {
    recordUse(known);
    return known;
  }
  const lock = await acquireLock(join(CODE_DIR, 'code.lock'));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const version = getCodeVersion();
      const code = findPageCode(version) ?? (await compilePages(version, onEvent));
      if (code) return code;
    }
  } finally {
    lock.release();
  }
  throw new ServiceError('unavailable', 'The pages cannot be compiled while the source files keep changing.', {
    hint: 'Rebuild again when they are saved.',
    reason: 'source_changing',
  });
}

/**
 * Says that a code version is still wanted, so that it is not removed as an old one. Where the folder may not be written
 * to, or is gone, nobody removes anything either.
 */
export function recordUse({ version }: PageCode, at = new Date()): void {
  try {
    utimesSync(join(CODE_DIR, version), at, at);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].some((code) => isFileError(error, code))) throw error;
  }
}

/** Compiles into a folder of its own and gives it its name when complete; undefined if the sources changed meanwhile. */
async function compilePages(version: string, onEvent: OnRebuildEvent): Promise<PageCode | undefined> {
  const started = performance.now();
  const folder = join(CODE_DIR, `.compiling-${version}-${process.pid}`);
  removeLeftovers();
  mkdirSync(folder, { recursive: true });
  onEvent({ type: 'compiling', code_version: version });
  try {
    await runBuilder(folder, onEvent);
    if (getCodeVersion() !== version) return undefined;
    renameSync(folder, join(CODE_DIR, version));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  onEvent({ type: 'compiled', code_version: version, ms: Math.round(performance.now() - started) });
  return findPageCode(version);
}

/** Astro's `build` works once per process, so it gets one; that process ends when this one does. */
async function runBuilder(folder: string, onEvent: OnRebuildEvent): Promise<void> {
  const builder = fork(BUILDER, [folder], {
    cwd: PROJECT_DIR,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  builder.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4000);
    onEvent({ type: 'said', text });
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    builder.once('error', reject);
    builder.once('close', (...end) => resolve(end));
  });
  if (code === 0) return;
  throw new ServiceError('unavailable', `The pages could not be compiled (${signal ?? `exit code ${code}`}).`, {
    hint: said.trim().split('\n')[0] || 'npx astro build says more.',
    reason: 'compile_failed',
    details: { said },
  });
}

/** Removes what killed builders left; only called under the lock. */
function removeLeftovers(): void {
  for (const name of listNames(CODE_DIR)) {
    if (name.startsWith('.compiling-')) rmSync(join(CODE_DIR, name), { recursive: true, force: true });
  }
}
