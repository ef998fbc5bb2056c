import type { APIRoute } from 'astro';
import { getMarketData } from '../../published/market.ts';
import { buildCsv, buildMarketTable, findMarketTableName } from '../../views/market.ts';

export const prerender = false;

/** A table of figures about the market. */
export const GET: APIRoute = ({ params, locals: { reading } }) => {
  const name = findMarketTableName(params.name ?? '');
  if (!name)
    return new Response('There is no such table.\n', { status: 404, headers: { 'Content-Type': 'text/plain' } });
  const { columns, rows } = buildMarketTable(name, getMarketData(reading));
  const csv = buildCsv(
    columns.map(({ key }) => key),
    rows,
  );
  return new Response(csv, { headers: { 'Content-Type': 'text/csv; charset=utf-8; header=present' } });
};
