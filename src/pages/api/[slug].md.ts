import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIRoute } from 'astro';
import { parseQuery } from '../../http/parameters.ts';
import { findListingPage } from '../../published/page-data.ts';
import { buildListingMarkdown, buildTombstoneMarkdown } from '../../views/listing/markdown.ts';
import { markdownQuery } from '../../views/listing/query.ts';

export const prerender = false;

const HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8' };

/** Returns the Markdown of a listing. */
export const GET: APIRoute = async ({ params, url: { searchParams }, locals: { reading } }) => {
  const page = await findListingPage(reading, params.slug ?? '', parseQuery(markdownQuery, searchParams).page);
  if (!page) return new Response('There is no such listing.\n', { status: 404, headers: HEADERS });
  await nextTurn();
  return page.kind === 'live'
    ? new Response(buildListingMarkdown(page, reading.site), { headers: HEADERS })
    : new Response(buildTombstoneMarkdown(page), { status: 410, headers: HEADERS });
};
