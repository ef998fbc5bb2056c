import type { CallRequest } from './call-request.ts';

/**
 * Writes a request without payment as a command for a POSIX shell; its answer is the 402 and costs nothing.
 * `--globoff` keeps curl from reading `[1-1000]` or `{a,b}` in an address as many requests.
 */
export function buildCurl({ method, url, headers, body }: CallRequest): string {
  const options = ['curl --include --globoff'];
  if (method === 'HEAD') options.push('--head');
  else if (method !== 'GET') options.push(`--request ${method}`);
  for (const [name, value] of headers) options.push(`--header ${quoteForShell(`${name}: ${value}`)}`);
  // --data-raw: unlike --data it never takes a leading @ for a file name.
  if (body !== null) options.push(`--data-raw ${quoteForShell(body)}`);
  options.push(`--url ${quoteForShell(url)}`);
  return options.join(' \\\n  ');
}

/** Quotes any text as one word of a POSIX shell: nothing inside single quotes is special but the quote itself. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}
