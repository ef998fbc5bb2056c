import ts from 'typescript';

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
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const printed: unknown[] = [];
  const names = ['require', 'exports', 'process', 'console'];
  const log = (...words: unknown[]) => printed.push(...words);
  await new AsyncFunction(...names, outputText)((name: string) => modules[name], {}, { env }, { log });
  return printed;
}
