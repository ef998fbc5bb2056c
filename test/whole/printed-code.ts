import { stripTypeScriptTypes } from 'node:module';

/** What compiles code that waits at its top. */
const AsyncFunction = Object.getPrototypeOf(runPrinted).constructor as FunctionConstructor;

/**
 * Runs a TypeScript module that a page prints as a reader would, with the packages it names and the variables of its
 * environment; gives what it prints.
 */
export async function runPrinted(
  code: string,
  modules: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
): Promise<unknown[]> {
  const required = code.replace(
    /^import \{([^}]*)\} from ('[^']*');$/gm,
    (_, names: string, from: string) => `const {${names.replaceAll(' as ', ': ')}} = require(${from});`,
  );
  const printed: unknown[] = [];
  const names = ['require', 'process', 'console'];
  const log = (...words: unknown[]) => printed.push(...words);
  const run = new AsyncFunction(...names, stripTypeScriptTypes(required));
  await run((name: string) => modules[name], { env }, { log });
  return printed;
}
