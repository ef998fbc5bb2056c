import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** The entry points of the serving process, and every folder that runs in it. */
const SERVING = ['http', 'published', 'site', 'mcp', 'pages', 'components', 'layouts'];

/** Lists the modules that a file imports in any way, except type imports. */
function listImports(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s+['"]([^'"]+)['"]|\bimport\(?\s*['"]([^'"]+)['"]/g,
  );
  return [...found]
    .map((match) => match[1] ?? match[2] ?? '')
    .filter((target) => target.startsWith('.'))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(path), target.split('?')[0] ?? target)))
    .filter((target) => /\.(ts|astro|mjs)$/.test(target) && existsSync(join(ROOT, target)));
}

/** Lists all modules that files reach, including themselves, each with its importer. */
function listReached(starts: readonly string[]): Map<string, string> {
  const reached = new Map(starts.map((start) => [start, 'the start']));
  for (const path of reached.keys()) {
    for (const target of listImports(path)) if (!reached.has(target)) reached.set(target, path);
  }
  return reached;
}

const listFiles = (folder: string) =>
  readdirSync(join(ROOT, 'src', folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', folder, name))
    .filter((path) => /\.(ts|astro)$/.test(path));

describe('the serving process', () => {
  const reached = listReached(
    ['scripts/serve.ts', 'src/middleware.ts', ...SERVING.flatMap(listFiles)].filter((path) =>
      existsSync(join(ROOT, path)),
    ),
  );

  it('imports nothing that pays or signs', () => {
    const paying = [...reached].filter(([path]) => /^src\/(paying\/|catalogue\/write\/payments\.ts)/.test(path));
    expect(paying).toEqual([]);
    expect(reached.size).toBeGreaterThan(100);
  });

  it('reads no key: it never reads the payer’s settings', () => {
    const readers = [...reached.keys()].filter(
      (path) =>
        path !== 'src/config.ts' &&
        /readPayerConfig|PAYER_\w+_(PRIVATE_KEY|KEY_FILE)/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(readers).toEqual([]);
  });

  it('differs from the operator’s commands, which do import what pays', () => {
    expect([...listReached(['scripts/catalogue.ts']).keys()]).toContain('src/paying/pay.ts');
  });
});

it('the thread that judges an answer loads no schema library, which would take most of its time', () => {
  const judging = [...listReached(['src/paying/judging-thread.ts']).keys()];
  expect(judging).toContain('src/model/text.ts');
  expect(judging.filter((path) => /from 'zod'/.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});
