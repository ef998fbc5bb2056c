import type { APIRoute } from 'astro';
import { findListingPage } from '../../published/page-models.ts';
import { buildListingMarkdown, buildTombstoneMarkdown } from '../../views/listing/markdown.ts';

export const prerender = false;

const HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8' };

export const GET: APIRoute = ({ params, locals: { reading } }) => {
  const page = findListingPage(reading, params.slug ?? '');
  if (!page) return new Response('There is no such listing.\n', { status: 404, headers: HEADERS });
  return page.kind === 'live'
    ? new Response(buildListingMarkdown(page, reading.site), { headers: HEADERS })
    : new Response(buildTombstoneMarkdown(page), { status: 410, headers: HEADERS });
};
