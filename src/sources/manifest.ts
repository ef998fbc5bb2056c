import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, ServiceError } from '../errors.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { buildFinding, FINDING_CODES, type FindingCode, type Note } from './finding-codes.ts';
import { buildManifestDeclaration } from './manifest-declaration.ts';
import { describeIssues } from './manifest-issues.ts';
import { manifest } from './manifest-schema.ts';
import { type Path, parseYaml, type YamlProblem } from './manifest-yaml.ts';
import { getSourceName } from './source-name.ts';

/** Largest manifest that is read, in bytes. */
const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Largest number of problems of one file that are reported. */
const MAX_PROBLEMS = 20;

interface ManifestOptions {
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC: `observed.at` cannot be later. */
  now: string;
}

interface ParsedManifest {
  /** The declaration; absent if anything is wrong: a manifest is taken whole or not at all. */
  declaration?: Declaration;
  /** Findings, each with the name of the file; a refusal also names the line and what to do. */
  findings: Finding[];
}

/**
 * Parses a YAML manifest, which is one listing, into its declaration. Strict: an unknown field, a duplicate key, an
 * alias, a second document or a bad value refuses the whole file, and all problems are reported at once. Never throws,
 * whatever the text.
 */
export function parseManifest(text: string, fileName: string, options: ManifestOptions): ParsedManifest {
  const name = getSourceName(fileName);
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES) return { findings: [buildFileFinding('manifest_too_large', name)] };
  const yaml = parseYaml(text, isPrice);
  if ('problems' in yaml) return { findings: buildRefusals(yaml.problems, name) };
  const problems: YamlProblem[] = [];
  const refuse = (code: FindingCode, path: Path, message: string) =>
    problems.push({ code, line: yaml.getLine(path), message });
  const parsed = manifest.safeParse(yaml.value);
  if (!parsed.success) {
    for (const { code, path, message } of describeIssues(parsed.error.issues, yaml.value)) refuse(code, path, message);
    return { findings: buildRefusals(problems, name) };
  }
  const notes: Finding[] = [];
  const note: Note = (code, message = FINDING_CODES[code]) =>
    notes.push(buildFinding('noted', code, name, `${name}: ${message}`));
  const declaration = buildManifestDeclaration(parsed.data, { ...options, name, refuse, note });
  return problems.length > 0 ? { findings: buildRefusals(problems, name) } : { declaration, findings: notes };
}

/** Builds the refusal of a whole file, for a reason without a line. */
function buildFileFinding(code: FindingCode, name: string): Finding {
  return buildFinding('refused', code, name, `${name}: ${FINDING_CODES[code]}`);
}

/** Builds the findings of a refused file, sorted by line. Only the first are listed, with the number of the others. */
function buildRefusals(problems: readonly YamlProblem[], name: string): Finding[] {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const shown = sorted.slice(0, MAX_PROBLEMS);
  const more = sorted.length - shown.length;
  return shown.map(({ code, line, message }, index) => {
    const rest = more > 0 && index === shown.length - 1 ? ` And ${more} more.` : '';
    return buildFinding('refused', code, name, `${name}, line ${line}: ${message}${rest}`, `line ${line}`);
  });
}

/** Returns whether a path is that of a price, which keeps every digit as it is written. */
function isPrice([first, , third]: Path): boolean {
  return first === 'price_usdc' || (first === 'routes' && third === 'price_usdc');
}

/** The file name of a manifest, which like any file name may contain a line end. */
const MANIFEST_NAME = /^[^.].*\.ya?ml$/is;

/** One manifest file and the result of parsing it. */
export interface ManifestFile extends ParsedManifest {
  /** Name of the file on record. */
  name: string;
  /** Path of the file. */
  path: string;
}

/**
 * Reads manifests: files of any name, and the `*.yaml` and `*.yml` files of folders, sorted by name. A problem with one
 * file is a finding of that file. Throws `bad_input` for a path that does not exist.
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
    // A pipe would make reading wait for its writer, and a device has no end.
    if (!stats.isFile()) return buildFileFinding('manifest_not_a_file', name);
    if (stats.size > MAX_MANIFEST_BYTES) return buildFileFinding('manifest_too_large', name);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const message = `${name}: the file cannot be read as UTF-8 text (${describeCause(error)}).`;
    return buildFinding('refused', 'manifest_unreadable', name, message);
  }
}

/** Returns the cause in a word or two; the whole message would contain a path of this machine. */
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
