import { PATH_TEMPLATE } from '../model/path-template.ts';
import type { JsonObject, RequestExample } from '../model/route.ts';

/** Stands where nothing better is known: a number as well as text, and the first of most things that are counted. */
const PLACEHOLDER = '1';

export interface FilledPath {
  path: string;
  /** Names whose values were made up: what the route then says of them is no fault of its own. */
  invented: string[];
}

/**
 * Fills the templates of a path: from the example that the declared input gives of its path parameters, from example
 * values of the same name, else with a neutral placeholder.
 */
export function fillTemplates(
  path: string,
  { input_schema, example }: { input_schema: JsonObject | null; example: RequestExample | null },
): FilledPath {
  const invented: string[] = [];
  const filled = path.replace(PATH_TEMPLATE, (_all, braced?: string, named?: string) => {
    const name = (braced ?? named ?? '').replace(/^[+*]|[*+?]$|:.*$/g, '');
    const value =
      findDeclaredExample(input_schema, name) ?? findText(example?.query, name) ?? findText(example?.body, name);
    if (value === undefined) invented.push(name);
    return encodeURIComponent(value ?? PLACEHOLDER);
  });
  return { path: filled, invented };
}

/** Finds an example value in the JSON Schema of a path parameter (`properties.pathParams.properties.<name>`). */
function findDeclaredExample(schema: JsonObject | null, name: string): string | undefined {
  const parameters = findMember(findMember(findMember(schema, 'properties'), 'pathParams'), 'properties');
  const declared = findMember(parameters, name);
  const examples = findMember(declared, 'examples');
  const choices = findMember(declared, 'enum');
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined);
  return [findMember(declared, 'example'), first(examples), findMember(declared, 'default'), first(choices)]
    .map(getText)
    .find((text) => text !== undefined);
}

function findText(source: unknown, name: string): string | undefined {
  return getText(findMember(source, name));
}

function findMember(source: unknown, name: string): unknown {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, name)) return undefined;
  return Object.getOwnPropertyDescriptor(source, name)?.value;
}

/** A value that can stand in an address; `.` and `..` would be taken for steps in it. */
function getText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,200}$/u.test(value) ? value : undefined;
}
