import type { Declaration } from '../model/declaration.ts';
import type { Finding } from '../model/finding.ts';
import { buildFinding, FINDING_CODES, type FindingCode, type Note } from './finding-codes.ts';
import { buildManifestDeclaration } from './manifest-declaration.ts';
import { describeIssues } from './manifest-issues.ts';
import { manifest } from './manifest-schema.ts';
import { type Path, parseYaml, type YamlProblem } from './manifest-yaml.ts';
import { getSourceName } from './source-name.ts';

/** Largest manifest read, in bytes. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Problems of one file that are told. */
const MAX_PROBLEMS = 20;

export interface ManifestOptions {
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC: `observed.at` cannot be later. */
  now: string;
}

export interface ParsedManifest {
  /** Absent where anything is wrong: a manifest is taken whole or not at all. */
  declaration?: Declaration;
  /** Each names the file; what is refused also names the line and what to do. */
  findings: Finding[];
}

/**
 * Parses a YAML manifest, which is one listing, into its declaration. Strict: an unknown field, a key that stands
 * twice, an alias, a second document or a bad value refuses the whole file, and all that is wrong is said at once.
 * Never throws for what the text holds.
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

/** Builds the refusal of a whole file, for a reason that has no line. */
export function buildFileFinding(code: FindingCode, name: string): Finding {
  return buildFinding('refused', code, name, `${name}: ${FINDING_CODES[code]}`);
}

/** Builds the findings of a refused file, in the order of its lines; of very many the first, and how many more. */
function buildRefusals(problems: readonly YamlProblem[], name: string): Finding[] {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const shown = sorted.slice(0, MAX_PROBLEMS);
  const more = sorted.length - shown.length;
  return shown.map(({ code, line, message }, index) => {
    const rest = more > 0 && index === shown.length - 1 ? ` And ${more} more.` : '';
    return buildFinding('refused', code, name, `${name}, line ${line}: ${message}${rest}`);
  });
}

/** Prices keep every digit as it is written. */
function isPrice([first, , third]: Path): boolean {
  return first === 'price_usdc' || (first === 'routes' && third === 'price_usdc');
}
