import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIRoute } from 'astro';
import { parseQuery } from '../../http/parameters.ts';
import { findListingPageInPieces } from '../../published/page-data.ts';
import { buildListingMarkdown, buildTombstoneMarkdown } from '../../views/listing/markdown.ts';
import { markdownQuery } from '../../views/listing/query.ts';

export const prerender = false;

const HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8' };

/** Returns the Markdown of a listing, built in pieces so that other requests are answered in between. */
export const GET: APIRoute = async ({ params, url: { searchParams }, locals: { reading } }) => {
  const build = findListingPageInPieces(reading, params.slug ?? '', parseQuery(markdownQuery, searchParams).page);
  const page = await build?.();
  if (!page) return new Response('There is no such listing.\n', { status: 404, headers: HEADERS });
  await nextTurn();
  return page.kind === 'live'
    ? new Response(buildListingMarkdown(page, reading.site), { headers: HEADERS })
    : new Response(buildTombstoneMarkdown(page), { status: 410, headers: HEADERS });
};
