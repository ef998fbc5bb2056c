import { describe, expect, it } from 'vitest';
import { buildCompactItem, buildCompactListing } from '../../../src/mcp/compact-listing.ts';
import { buildFullGuideListing } from '../../../src/views/guide.ts';
import { formatVerifiedRatio, listItemStandings } from '../../../src/views/listing/item.ts';
import { buildListingMarkdown } from '../../../src/views/listing/markdown.ts';
import { buildDescription, buildListingTag } from '../../../src/views/listing/tag.ts';
import { describeVerification, formatName, formatSummary, getStanding } from '../../../src/views/listing/words.ts';
import { buildListingPicture } from '../../../src/views/picture.ts';
import { makeDeclaration, makeRoute } from '../../builders.ts';
import { SITE } from '../../http/serving.ts';
import { makePage, makePublicListing } from '../listings.ts';

/** Makes a listing of some routes, the first of them verified or none. */
async function makeVerified(routes: number, isVerified = true) {
  const paths = Array.from({ length: routes }, (_, at) => `/v1/tool-${at}`);
  const declaration = makeDeclaration({ routes: paths.map((path) => makeRoute({ path })) });
  return await makePublicListing(declaration, isVerified ? { verified: '/v1/tool-0' } : {});
}

/** Everything that says of a listing, in words, how far it is verified. */
function listSayings(listing: Awaited<ReturnType<typeof makeVerified>>) {
  return {
    page: `${getStanding(listing).text}. ${describeVerification(listing)}`,
    summary: formatSummary(listing),
    markdown: buildListingMarkdown(makePage(listing), SITE),
    tag: buildDescription(listing),
    guide: buildFullGuideListing(listing, buildListingTag(listing, SITE)),
    row: formatVerifiedRatio(listing),
    picture: buildListingPicture(listing, SITE).stamp?.text ?? '',
    found: buildCompactItem(listing).verified,
    detail: buildCompactListing(listing).verified_routes,
  };
}

describe('how far a listing is verified', () => {
  it('is said as a ratio with the day of the proof wherever it is said, and what holds of the rest', async () => {
    const sayings = listSayings(await makeVerified(24));
    for (const [where, words] of Object.entries(sayings)) {
      expect([where, words]).toEqual([where, expect.stringMatching(/\b1 of 24\b.*2026-11-19/)]);
    }
    for (const where of ['page', 'markdown'] as const)
      expect(sayings[where]).toContain('All other routes are unverified.');
    for (const where of ['tag', 'guide'] as const)
      expect(sayings[where]).toContain('; all other routes are unverified;');
    expect(Object.values(sayings).join('\n')).not.toMatch(/(?<!routes )settlement-verified(?! 2026)(?! means)/i);
  });

  it('speaks of no other routes where all are verified', async () => {
    const sayings = listSayings(await makeVerified(1));
    expect(sayings.page).toBe('1 of 1 route settlement-verified, 2026-11-19. Any other route is unverified.');
    expect(sayings.row).toBe('1 of 1 route verified, 2026-11-19');
    expect(sayings.tag).toContain('; any other route is unverified;');
    expect(Object.values(sayings).join('\n')).not.toMatch(/all other routes/i);
  });

  it('is “unverified” where no route is, without a day', async () => {
    const { found, detail, picture, markdown: _own, guide: _all, ...words } = listSayings(await makeVerified(2, false));
    for (const [where, said] of Object.entries(words))
      expect([where, said]).toEqual([where, expect.stringMatching(/unverified/i)]);
    expect([found, detail]).toEqual(['0 of 2', '0 of 2']);
    expect(picture).toBe('declared 2026-11-01, not seen yet');
  });

  it('is said as the last proof, with its day, once that is older than 90 days', async () => {
    const at = async (updated_at: string) => listSayings({ ...(await makeVerified(2)), updated_at });
    // Proved on 2026-11-19 at eight o'clock.
    expect(Object.values(await at('2027-02-17T07:59:00.000Z')).join()).not.toMatch(/last proved/i);
    for (const [where, words] of Object.entries(await at('2027-02-17T08:01:00.000Z'))) {
      expect([where, words]).toEqual([where, expect.stringMatching(/\b1 of 2\b.*last proved 2026-11-19/)]);
      expect([where, words]).not.toEqual([where, expect.stringMatching(/(settlement-|routes )verified,? 2026-11-19/i)]);
    }
  });

  it('is told apart by the sign of its mark', async () => {
    const tones = [await makeVerified(1), await makeVerified(2), await makeVerified(2, false)].map((listing) => {
      const stamp = buildListingPicture(listing, SITE).stamp;
      return [getStanding(listing).tone, listItemStandings(listing)[0].tone, stamp?.tone];
    });
    expect(tones).toEqual([
      ['proved', 'proved', 'proved'],
      ['partly', 'partly', 'partly'],
      ['plain', 'plain', 'plain'],
    ]);
  });
});

describe('the host of a listing', () => {
  const host = 'xn--pi-6kc.coingecko.example';

  it('stands beside its name wherever that is shown, lookalike letters spelled out, however long the title', async () => {
    const listing = await makePublicListing(
      makeDeclaration({ base_url: 'https://аpi.coingecko.example/v1', title: `CoinGecko ${'official '.repeat(40)}` }),
    );
    expect([listing.host, buildListingPicture(listing, SITE).host]).toEqual([host, host]);
    expect([buildCompactItem(listing).host, buildCompactListing(listing).host]).toEqual([host, host]);
    expect(formatName(listing)).toMatch(new RegExp(`^CoinGecko .{1,60} \\(${host}\\)$`));
    expect(buildListingMarkdown(makePage(listing), SITE)).toContain(`- Host: \`${host}\``);
  });

  it('keeps its end in a picture, which is whose it is', async () => {
    const base_url = `https://coingecko.com.${'long-'.repeat(11)}name.evil.example`;
    const long = await makePublicListing(makeDeclaration({ base_url }));
    expect(buildListingPicture(long, SITE).host).toMatch(/^….{20,55}\.evil\.example$/);
    expect(buildCompactItem(long).host).toBe(new URL(base_url).host);
  });
});
