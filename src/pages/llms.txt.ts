import type { APIRoute } from 'astro';
import { getGuide } from '../published/page-data.ts';

export const prerender = false;

export const GET: APIRoute = ({ locals }) =>
  new Response(getGuide(locals.reading), { headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
