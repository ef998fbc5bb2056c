import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { PATHS } from '../../src/views/links.ts';
import { getPages } from '../audit/pages.ts';
import { ask, buildGet, buildMcpRequest, type Row } from './measuring.ts';
import { listShuffledSlugs, openWrittenWorld, type Run, type Server, startService } from './world.ts';

/** Measures the bytes of one page of each kind and of the documents, and the tokens of what MCP sends. */
export async function measureSizes(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const slug = (await listShuffledSlugs(world))[0] ?? '';
  const pages = getPages([], slug).map(({ name, path }): [string, string] => [`page: ${name}`, path]);
  const documents = [
    PATHS.openapi,
    PATHS.agentList,
    PATHS.agentListing(slug),
    PATHS.listingMarkdown(slug),
    PATHS.discoveryResources,
    PATHS.guide,
    PATHS.guideFull,
    PATHS.changesFeed,
  ].map((path): [string, string] => [path.replace(slug, '{slug}'), path]);
  const server = await startService(world);
  try {
    const rows: Row[] = [];
    for (const [what, path] of [...pages, ...(await listParts(server)), ...documents]) {
      const { body } = await ask(server, buildGet(path, 'gzip'));
      rows.push({ listings, what, unit: 'bytes, gzip', ours: body.length });
    }
    for (const [what, params] of listMcpRequests(slug)) {
      const { body } = await ask(server, buildMcpRequest(what.split(' ')[0] ?? '', params));
      const { result } = JSON.parse(body.toString());
      // Hosts hand on one part of a tool's answer, and both say the same.
      const read = result.content?.[0]?.text ?? JSON.stringify(result);
      rows.push({ listings, what: `MCP ${what}`, unit: 'tokens', ours: countTokens(read) });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

const listMcpRequests = (slug: string): readonly [what: string, params: object][] => [
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['prompts/list', {}],
  ['tools/call search_listings', { name: 'search_listings', arguments: {} }],
  ['tools/call get_listing', { name: 'get_listing', arguments: { slug } }],
];

/** Lists the stylesheet and the script that every page loads. */
async function listParts(server: Server): Promise<[what: string, path: string][]> {
  const html = (await ask(server, buildGet(PATHS.home))).body.toString();
  const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];
  const [, script = ''] = /<script data-src="([^" ]+)"/.exec(html) ?? [];
  return [
    ['stylesheet', style],
    ['script', script],
  ];
}
