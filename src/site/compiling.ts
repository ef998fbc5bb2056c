import { fork } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from '../catalogue/lock.ts';
import { ServiceError } from '../errors.ts';
import type { OnRebuildEvent } from './events.ts';
import { listNames } from './folders.ts';
import {
  CODE_DIR,
  findPageCode,
  getCodeVersion,
  getPageCode,
  type PageCode,
  PROJECT_DIR,
  removeOldPageCode,
} from './page-code.ts';

const BUILDER = join(import.meta.dirname, 'page-code-builder.ts');
const ATTEMPTS = 3;

/** Options for compiling pages. */
export interface CompileOptions {
  readonly onEvent: OnRebuildEvent;
  /** Compiles the pages even if they exist. */
  readonly force?: boolean;
}

/**
 * Returns the compiled pages of the current code, and compiles them first if they do not exist. Waits while another process
 * compiles. Throws `unavailable` if compiling fails.
 */
export async function openPageCode({ onEvent, force = false }: CompileOptions): Promise<PageCode> {
  const find = (version: string) => (force ? undefined : findPageCode(version, CODE_DIR));
  const known = find(getCodeVersion());
  if (known) return known;
  const lock = await acquireLock(join(CODE_DIR, 'code.lock'));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const version = getCodeVersion();
      const code = find(version) ?? (await compilePages(version, onEvent));
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
 * Compiles into a new folder, which gets its final name once it is complete; undefined if the sources changed meanwhile. Each
 * compilation has its own name, since a running server may still be loading parts of an earlier one.
 */
async function compilePages(version: string, onEvent: OnRebuildEvent): Promise<PageCode | undefined> {
  const started = performance.now();
  const unfinished = join(CODE_DIR, `.compiling-${version}-${process.pid}`);
  removeLeftovers();
  mkdirSync(unfinished, { recursive: true });
  onEvent({ type: 'compiling', code_version: version });
  const folder = join(CODE_DIR, `${version}-${new Date().toISOString().replace(/[-:.]/g, '')}`);
  try {
    await runBuilder(unfinished, onEvent);
    if (getCodeVersion() !== version) return undefined;
    renameSync(unfinished, folder);
    removeOldPageCode(CODE_DIR, new Date());
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  onEvent({ type: 'compiled', code_version: version, ms: Math.round(performance.now() - started) });
  return getPageCode(version, folder);
}

/** Runs Astro's `build` in a process of its own, since it works once per process. That process ends when this one does. */
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
