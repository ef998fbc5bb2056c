import type { RunningServer } from '../../src/http/server.ts';
import { ask } from '../http/running.ts';
import { listAttributes } from '../pages/site.ts';

/** What following links found. */
export interface Crawl {
  /** Addresses of our own origin that answered 200, by how they were read. */
  readonly answered: number;
  /** `from → to: status` of every link that leads nowhere. */
  readonly dead: string[];
}

/**
 * Follows every link of our own origin from the given paths on: in pages, Markdown, plain text and JSON alike. `origin` is
 * what the documents call the service; the server is asked on loopback.
 */
export async function crawl(server: RunningServer, origin: string, start: readonly string[]): Promise<Crawl> {
  const waiting = new Map(start.map((path) => [path, 'start']));
  const seen = new Set(start);
  const dead: string[] = [];
  let answered = 0;
  for (const [path, from] of waiting) {
    waiting.delete(path);
    const { status, headers, text } = await ask(server, path);
    // Addresses that are named in every document and want something: a POST, or what to check.
    if (path === '/mcp' ? status === 405 : path === '/agent/check' && status === 400) continue;
    if (status !== 200) {
      dead.push(`${from} → ${path}: ${status}`);
      continue;
    }
    answered += 1;
    // A comparison leads to each with one route more or less, and so on without an end.
    if (path.startsWith('/compare?')) continue;
    for (const link of listLinks(text, String(headers['content-type']), origin, path)) {
      if (seen.has(link)) continue;
      seen.add(link);
      waiting.set(link, path);
    }
  }
  return { answered, dead };
}

function listLinks(text: string, type: string, origin: string, path: string): string[] {
  const written = type.startsWith('text/html')
    ? [...listAttributes(text, 'href'), ...listAttributes(text, 'src')]
    : [...decodeEntities(text).matchAll(/https?:\/\/[^\s"'`<>()\\]*[^\s"'`<>()\\.,;]/g)].map(([url]) => url);
  return written.flatMap((link) => {
    // A template such as {slug} or q={words} is for the reader to fill in.
    if (/[{}…]/.test(link)) return [];
    const url = URL.parse(link, `${origin}${path}`);
    return url?.origin === origin ? [`${url.pathname}${url.search}`] : [];
  });
}

/** A feed holds markup as text: its links end where the quote does. */
function decodeEntities(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
