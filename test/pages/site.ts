import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Reading } from '../../src/published/reading.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { loadPageCode } from '../../src/site/rendering.ts';

/** What a page answered. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly html: string;
  /** What a reader sees: the text without tags, white space collapsed. */
  readonly text: string;
}

/** The site over one catalogue, as the compiled pages render it. */
export interface Pages {
  get(path: string): Promise<Answer>;
  /** Paths of the hashed assets that the pages load. */
  readonly assets: ReadonlySet<string>;
}

/** Opens the compiled pages, compiled first if nobody has; every test of this code version shares them. */
export async function openPages(reading: Reading): Promise<Pages> {
  const code = await openPageCode({ onEvent: () => undefined });
  const render = await loadPageCode(code);
  return {
    assets: new Set(readdirSync(join(code.clientDir, '_astro')).map((name) => `/_astro/${name}`)),
    get: async (path) => {
      const page = await render(path, reading);
      if (!page) throw new Error(`no page has the path ${path}`);
      const html = page.body.toString('utf8');
      return { status: page.status, type: page.type, html, text: getText(html) };
    },
  };
}

/** Lists what an attribute holds wherever it stands, decoded. */
export function listAttributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => decode(value));
}

function getText(html: string): string {
  const body = html.replace(/<(head|script|svg)\b.*?<\/\1>/gs, '');
  return decode(body.replaceAll('<wbr>', '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

function decode(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
