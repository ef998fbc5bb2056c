import { expect, it } from 'vitest';
import { buildListingAnswer } from '../../src/mcp/tools/get-listing.ts';
import { findListingPage } from '../../src/published/page-data.ts';
import { listPages } from '../../src/published/pages.ts';
import { buildListingMarkdown } from '../../src/views/listing/markdown.ts';
import { agentListing } from '../../src/views/listing/record.ts';
import { makeRoute } from '../builders.ts';
import { serveLive } from '../http/serving.ts';
import { SITE } from '../site.ts';
import { makeReadCatalogue } from './catalogues.ts';

const LIGHTS = [makeRoute({ description: 'Lighthouses along a coast, with their lights.' })];
const HARBOURS = [makeRoute({ path: '/v1/harbours', description: 'Harbours along a coast.' })];

function makeListing(slug: string, routes = LIGHTS) {
  return { slug, base_url: `https://${slug}.example-provider.com`, title: '', routes };
}

it('listings of one product name each other on their pages, in JSON and in MCP', async () => {
  const { catalogue, reading, record } = await makeReadCatalogue(
    ...[makeListing('lights'), makeListing('harbours', HARBOURS)],
  );
  const { get } = await serveLive(catalogue);
  const ask = async (slug: string) => {
    const { headers, body } = await get(`/agent/listings/${slug}`).then(async (response) => ({
      headers: response.headers,
      body: agentListing.parse(await response.json()),
    }));
    const page = await findListingPage(reading, slug);
    const mcp = buildListingAnswer(slug, {}, { reading, snapshot: reading.getSnapshot() });
    if (page?.kind !== 'live' || !mcp) throw new Error(`${slug} is not live.`);
    const key = [...listPages(reading.published, reading.getSnapshot())].find(
      ({ path }) => path === `/api/${slug}`,
    )?.key;
    const named = /^- Same product at: .*$/m.exec(buildListingMarkdown(page, SITE))?.[0];
    return {
      named: [page.same_product, body.listing.same_product, mcp.same_product, named],
      etag: headers.get('etag'),
      key,
    };
  };
  const alone = await ask('lights');
  expect(alone.named).toEqual([[], undefined, undefined, undefined]);
  await record(makeListing('beacons'));
  const both = await ask('lights');
  expect(both.named).toEqual([
    ...[['beacons'], ['beacons'], ['beacons'], `- Same product at: [beacons](${SITE.baseUrl}/api/beacons)`],
  ]);
  expect(both.etag).not.toBe(alone.etag);
  expect(both.key).not.toBe(alone.key);
  expect((await ask('beacons')).named.slice(0, 3)).toEqual([['lights'], ['lights'], ['lights']]);
  expect((await ask('harbours')).named).toEqual([[], undefined, undefined, undefined]);
  // It sells something else now: nobody names it any more but those who sell that.
  await record(makeListing('beacons', HARBOURS));
  expect(await ask('lights')).toMatchObject({ named: alone.named, etag: alone.etag });
  expect((await ask('harbours')).named.slice(0, 3)).toEqual([['beacons'], ['beacons'], ['beacons']]);
});
