import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Output } from '../../src/cli/terminal/page.ts';
import { makeFolder, NOW } from '../builders.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a command wrote and how it ended. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The commands that read the payer's settings; all others refuse to run with any of them. */
const PAYING = ['verify', 'receipts', 'check'];

/** Opens a stream that keeps what is written on it; with `columns` it says that it is a terminal. */
export function openOutput(columns?: number): Output & { getText(): string } {
  const output: Output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (columns !== undefined) Object.assign(output, { isTTY: true, columns });
  return Object.assign(output, { getText: () => Buffer.concat(chunks).toString() });
}

/** Runs commands on a catalogue file of their own, in this process and with a fixed clock. */
export function makeCommands(settings: Record<string, string> = {}, now: () => Date = () => new Date(NOW)) {
  const folder = makeFolder();
  const file = join(folder, 'catalogue.sqlite');
  const environment = {
    CATALOGUE: file,
    SITE: join(folder, 'site'),
    BASE_URL: 'https://apis.example',
    ...settings,
  };
  const run = async (
    args: readonly string[],
    {
      columns,
      signal,
      stderr = openOutput(),
    }: { columns?: number; signal?: AbortSignal; stderr?: ReturnType<typeof openOutput> } = {},
  ): Promise<Ran> => {
    const given = PAYING.includes(args[0] ?? '')
      ? { PAYER_FOLDER: join(folder, 'payer'), ...environment }
      : environment;
    for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value);
    const stdout = openOutput(columns);
    const code = await runCommandLine(args, { stdout, stderr, now, signal: signal ?? new AbortController().signal });
    vi.unstubAllEnvs();
    return { code, stdout: stdout.getText(), stderr: stderr.getText() };
  };
  /** Runs with `--json` and returns the document, which must be the whole standard output. */
  const runJson = async (...args: string[]) => {
    const ran = await run([...args, '--json']);
    return { ...ran, json: JSON.parse(ran.stdout) };
  };
  return { folder, file, environment, run, runJson };
}

/** The Node options of `npm run catalogue`. */
const NODE_FLAGS = ['--max-semi-space-size=8', '--import', './scripts/require-node.mjs'];

/** Starts the real entry point as a process of its own. */
export function startCatalogue(args: readonly string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [...NODE_FLAGS, 'scripts/catalogue.ts', ...args], {
    cwd: ROOT,
    // Not the test runner's own environment, which has a BASE_URL of its own.
    env: { PATH: process.env.PATH, ENV_FILES: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((end) => child.once('close', end));
  const output = Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { child, ended, ran: output.then(([code, stdout, stderr]): Ran => ({ code, stdout, stderr })) };
}

/** Writes a manifest of a listing with one priced route, and gives its path. */
export function writeManifest(folder: string, name: string, facts: Record<string, string> = {}): string {
  const stem = name.replace(/\.ya?ml$/, '');
  const fields = {
    name: `The ${stem} service`,
    base_url: `https://${stem}.provider-of-tests.com`,
    tagline: 'Things, one at a time.',
    slug: stem,
    ...facts,
  };
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${JSON.stringify(value)}`);
  const routes = ['routes:', '  - method: GET', '    path: /v1/:thing', '    price_usdc: "0.002"'];
  const observed = ['observed: { source: seen by hand, at: 2026-11-01 }'];
  const path = join(folder, name);
  writeFileSync(path, [...lines, ...observed, ...routes, ''].join('\n'));
  return path;
}
