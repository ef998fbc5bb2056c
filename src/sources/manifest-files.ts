import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, ServiceError } from '../errors.ts';
import type { Finding } from '../model/finding.ts';
import { buildFinding } from './finding-codes.ts';
import {
  buildFileFinding,
  MAX_MANIFEST_BYTES,
  type ManifestOptions,
  type ParsedManifest,
  parseManifest,
} from './manifest.ts';
import { getSourceName } from './source-name.ts';

/** A manifest's name, which like any file's may hold a line end. */
const MANIFEST_NAME = /^[^.].*\.ya?ml$/is;

/** One manifest file and what it came to. */
export interface ManifestFile extends ParsedManifest {
  /** The file's name on record. */
  name: string;
  /** Where it was read. */
  path: string;
}

/**
 * Reads manifests: files by any name, and the `*.yaml` and `*.yml` files of folders, sorted by name. What is wrong with
 * one file is a finding of that file. Throws `bad_input` for a path where there is nothing.
 */
export async function* readManifests(
  paths: readonly string[],
  options: ManifestOptions,
): AsyncGenerator<ManifestFile, void, undefined> {
  for (const path of paths) {
    if (!(await isFolder(path))) {
      yield await readManifest(path, options);
      continue;
    }
    const files = (await readdir(path)).filter((file) => MANIFEST_NAME.test(file)).sort();
    for (const file of files) yield await readManifest(join(path, file), options);
    if (files.length === 0) yield buildEmptyFolder(path);
  }
}

async function readManifest(path: string, options: ManifestOptions): Promise<ManifestFile> {
  const name = getSourceName(path);
  const text = await readManifestText(path, name);
  return { name, path, ...(typeof text === 'string' ? parseManifest(text, name, options) : { findings: [text] }) };
}

async function readManifestText(path: string, name: string): Promise<string | Finding> {
  try {
    const stats = await stat(path);
    // Reading a pipe would wait for whoever writes to it, and a device has no end.
    if (!stats.isFile()) return buildFileFinding('manifest_not_a_file', name);
    if (stats.size > MAX_MANIFEST_BYTES) return buildFileFinding('manifest_too_large', name);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const message = `${name}: the file cannot be read as UTF-8 text (${describeCause(error)}).`;
    return buildFinding('refused', 'manifest_unreadable', name, message);
  }
}

/** The cause in a word or two; the whole message would name this machine's path. */
function describeCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code || getErrorMessage(error);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new ServiceError('bad_input', `There is no file or folder ${path}.`, {
      reason: 'no_such_file',
      hint: 'Give manifest files, or folders that hold *.yaml files.',
      cause: error,
    });
  }
}

function buildEmptyFolder(path: string): ManifestFile {
  const name = getSourceName(path);
  const message = `The folder ${name} holds no *.yaml or *.yml files.`;
  return { name, path, findings: [buildFinding('noted', 'no_manifests', name, message)] };
}
