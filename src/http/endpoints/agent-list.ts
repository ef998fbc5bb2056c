import { selectFoldedPage } from '../../published/folded-page.ts';
import { readSelected } from '../../published/listings.ts';
import { PATHS } from '../../views/links.ts';
import { type AgentList, agentList, buildAnswerNotes, listQuery } from '../../views/listing/query.ts';
import { buildItemExample, buildSummaryExample } from '../../views/openapi/example.ts';
import { buildSummed } from '../document.ts';
import { defineRead } from './define.ts';

/** A page of the listings that fit a query. */
export const listEndpoint = defineRead({
  id: 'listListings',
  path: PATHS.agentList,
  summary: 'Search and filter the catalogue',
  description:
    'All filters given must hold; what was applied is echoed. Unknown parameters are refused. Follow next_cursor for more.',
  query: listQuery,
  examples: {
    q: 'convert a pdf to text',
    category: 'Finance',
    network: 'base',
    seen: true,
    verified: true,
    band: 'established',
    max_price_usdc: '0.01',
    can: 'v2,evm,exact,eip3009',
    host: 'api.prices.example',
    path: '/v1/price/{symbol}',
    provider: 'Example Inc',
    updated_since: '2026-11-01',
    sort: 'price',
    limit: 20,
    cursor: '0~example-prices~1abc~~~',
    facets: true,
  },
  answer: {
    description: 'A page of listings',
    schema: agentList,
    example: (site): AgentList => ({
      catalogue: buildSummaryExample(site),
      revision: 1,
      filters: { q: 'price', sort: 'relevance', limit: 20 },
      total: 1,
      listings: [buildItemExample()],
    }),
  },
  build: (query, { reading, snapshot, asked }) => {
    const { selected, cut } = selectFoldedPage(reading.published, snapshot, query);
    const page = cut();
    const { cursor: _cursor, facets: _facets, ...filters } = selected.query;
    const items = readSelected(reading.published, page);
    const facts = {
      filters,
      total: selected.total,
      ...page.rest,
      ...(selected.facets && { facets: selected.facets }),
      ...buildAnswerNotes(selected),
    };
    const rest = `${JSON.stringify(facts).slice(1, -1)},"listings":[${items.join(',')}]}`;
    return buildSummed(reading, snapshot, { rest, asked });
  },
});
