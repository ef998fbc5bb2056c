import { isObject } from '../json-value.ts';

/** The address of a document, and the base address that the user asked for. */
export interface DocumentPlace {
  /** Address of the document; null for a file. */
  url: string | null;
  /** Base address that the user asked for; null to use those of the document. */
  base_url: string | null;
}

/**
 * Finds the base address of an operation: the first server of the innermost list that has one, with variables at their
 * defaults, relative to the document (OpenAPI 3.1, "Server Object"). Without servers it is the address that the user
 * asked for, else the document's origin. Undefined if there is none of these.
 */
export function findServerUrl(lists: readonly unknown[], { url, base_url }: DocumentPlace): string | undefined {
  const servers = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  const [server] = servers;
  if (!isObject(server) || typeof server.url !== 'string')
    return base_url ?? (url === null ? undefined : new URL(url).origin);
  const address = fillVariables(server.url.trim(), server.variables);
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return address;
  return URL.parse(address, url ?? base_url ?? undefined)?.href;
}

function fillVariables(address: string, variables: unknown): string {
  if (!isObject(variables)) return address;
  return address.replace(/\{([^{}]{1,80})\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isObject(variable) ? variable.default : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

/** Returns a base address in its canonical form: without query, fragment and slash at the end. */
export function getBaseAddress(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
