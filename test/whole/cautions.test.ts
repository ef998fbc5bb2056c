import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import { publishListing } from '../../src/catalogue/write/publication.ts';
import { recordReplies } from '../../src/catalogue/write/replies.ts';
import { getCurrentTerms } from '../../src/evidence/terms.ts';
import { CAUTION_CODES, CAUTIONS, type Caution, type CautionCode } from '../../src/model/caution.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { isLive, type Listing } from '../../src/model/listing.ts';
import { READS_DIFFERENTLY } from '../../src/model/probe.ts';
import { getRouteUrl } from '../../src/model/route.ts';
import { buildAgentItem } from '../../src/views/listing/item.ts';
import { buildListingPicture } from '../../src/views/picture.ts';
import { describeCaution, describeCautionEvidence } from '../../src/views/words/caution.ts';
import { formatStanding } from '../../src/views/words/standing.ts';
import { type EvidenceWorld, getTime, makeWorld } from '../catalogue/evidence-world.ts';
import { makeCommands } from '../cli/running.ts';
import { buildChallenge } from '../http/checking.ts';
import { SITE, serveLive } from '../http/serving.ts';
import { inTurn } from '../in-turn.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { openPages, type Pages } from '../pages/site.ts';
import { recordPaid } from '../paid.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms, NOW, recordReceiptFor } from '../records.ts';
import { SCRATCH } from '../scratch.ts';

/** Code that pays is only shown for a route of which something says what it takes. */
const TAKES_NOTHING = { input_schema: { type: 'object', properties: {} } };

const OTHER_PAYEE = `0x${'9'.repeat(40)}`;
const getSlug = (code: CautionCode) => `case-${code.replaceAll('_', '-')}`;
const getBase = (code: CautionCode) => `https://api.${getSlug(code)}.example-provider.com`;
const getReply = (code: CautionCode) => `We answer to ${code} & mean it.`;

function makeCase(code: CautionCode, overrides: Partial<Declaration> = {}): Declaration {
  return makeDeclaration({
    source: { kind: 'manifest', name: `${getSlug(code)}.yaml`, observed_at: '2026-11-01T00:00:00.000Z' },
    slug: getSlug(code),
    base_url: getBase(code),
    title: `Walked ${code.replaceAll('_', ' ')}`,
    provider_name: `Provider of ${code}`,
    routes: [makeRoute({ path: '/v1/thing', ...TAKES_NOTHING })],
    ...overrides,
  });
}

/** How each code comes to hold for the listing of its name, which was declared and seen by then: by real writes alone. */
const CASES: Record<CautionCode, (world: EvidenceWorld, slug: string) => Promise<unknown>> = {
  undelivered: ({ catalogue }, slug) =>
    recordPaid(catalogue, slug, { path: '/v1/thing', id: crypto.randomUUID(), status: 500, at: getTime(7) }),
  unrecognised: ({ catalogue }, slug) =>
    recordReceiptFor(catalogue, slug, { delivered: false, unrecognised: 'html_page', settled_at: getTime(7) }),
  payee_differs: ({ look }, slug) => look(12, { slug, terms: [makeTerms({ pay_to: OTHER_PAYEE })] }),
  reads_differently: ({ look }, slug) => look(12, { slug, cause: READS_DIFFERENTLY }),
  payee_announced: async ({ declare, look }, slug) => {
    const routes = [makeRoute({ path: '/v1/thing', ...TAKES_NOTHING, terms: [makeTerms({ pay_to: OTHER_PAYEE })] })];
    const source = { kind: 'openapi' as const, name: `${getBase('payee_announced')}/openapi.json`, observed_at: null };
    await declare(makeCase('payee_announced', { source, routes }), 7);
    await look(56, { slug, terms: [makeTerms({ pay_to: OTHER_PAYEE })] });
  },
  imitates_name: async ({ declare }) => {
    const terms = [makeTerms({ pay_to: OTHER_PAYEE })];
    const [title, base_url] = ['Walked imitates name', 'https://api.walkedimitatesname.com'];
    await declare(
      makeCase('imitates_name', { slug: 'the-real-one', title, base_url, routes: [makeRoute({ terms })] }),
      12,
    );
  },
  price_above_record: ({ look }, slug) => look(12, { slug, terms: [makeTerms({ amount: 2000 })] }),
  withdrawn: ({ catalogue }) =>
    writeCatalogue(catalogue, getTime(12), (writing) =>
      withdrawDeclarations(writing, makeCase('withdrawn').source, new Set()),
    ),
  probes_failing: async ({ look }, slug) => {
    for (const hours of [12, 18, 24]) await look(hours, { slug, outcome: 'server_error', status: 500 });
  },
  never_seen: async ({ declare }) => {
    // A source names a second route, which nobody has looked at yet.
    await declare(
      makeCase('never_seen', {
        routes: [
          makeRoute({ path: '/v1/thing', ...TAKES_NOTHING }),
          makeRoute({ path: '/v1/unseen', ...TAKES_NOTHING }),
        ],
      }),
      12,
    );
  },
  prices_differ: async ({ declare }) => {
    for (const [kind, path, amount] of [
      ['openapi', 'openapi.json', 1000],
      ['x402_file', '.well-known/x402', 2000],
    ] as const) {
      const source = { kind, name: `${getBase('prices_differ')}/${path}`, observed_at: null };
      const routes = [makeRoute({ path: '/v1/thing', ...TAKES_NOTHING, terms: [makeTerms({ amount })] })];
      await declare(makeCase('prices_differ', { source, routes }), 12);
    }
  },
  payee_rotates: ({ look }, slug) =>
    look(12, { slug, payee_rotates: true, terms: [makeTerms({ pay_to: OTHER_PAYEE })] }),
};

/** The catalogue in which each code holds for a listing, and all that is read from it. */
interface Walked {
  catalogue: Catalogue;
  live: Awaited<ReturnType<typeof serveLive>>;
  pages: Pages;
  listings: Map<CautionCode, Listing>;
}

let walked: Walked;
const folder = mkdtempSync(join(SCRATCH, 'cautions-'));
const AT = new Date(getTime(60));

beforeAll(async () => {
  const catalogue = await openNewCatalogue(join(folder, 'catalogue.sqlite'), { identity: IDENTITY, at: NOW });
  const world = await makeWorld(catalogue);
  for (const code of CAUTION_CODES) {
    const slug = getSlug(code);
    await world.declare(makeCase(code));
    await world.look(6, { slug });
    await CASES[code](world, slug);
    const listing = await world.find(slug);
    await writeCatalogue(catalogue, getTime(30), async (writing) => {
      await recordReplies(writing, getBase(code), `${getBase(code)}/file.json`, [
        { caution: code, route: null, text: getReply(code) },
      ]);
      await publishListing(writing, listing, 'declared_by_provider');
    });
  }
  const live = await serveLive(catalogue, () => AT);
  const listings = new Map(
    await inTurn(
      CAUTION_CODES,
      async (code): Promise<[CautionCode, Listing]> => [code, await world.find(getSlug(code))],
    ),
  );
  walked = { catalogue, live, pages: await openPages(live.reading), listings };
});

afterAll(async () => {
  walked?.live.reading.close();
  await walked?.catalogue.close();
  rmSync(folder, { recursive: true, force: true });
});

function getCase(code: CautionCode) {
  const listing = walked.listings.get(code);
  const held = [
    ...(listing?.cautions ?? []).map((caution) => ({ caution, route: listing?.routes[0] })),
    ...(listing?.routes ?? []).flatMap((route) => route.cautions.map((caution) => ({ caution, route }))),
  ];
  const found = held.find(({ caution }) => caution.code === code);
  if (!listing || !isLive(listing) || !found?.route) throw new Error(`${code} holds for no route of its listing`);
  return { listing, slug: listing.slug, held, caution: found.caution, route: found.route };
}

const isDanger = (code: CautionCode) => CAUTIONS[code].severity === 'danger';
const getStanding = (code: CautionCode) => ({
  tone: isDanger(code) ? 'danger' : 'plain',
  text: formatStanding(getCase(code).caution),
});
const getDay = ({ since }: Caution) => since?.slice(0, 10) ?? '';

async function getJson(path: string) {
  const response = await walked.live.get(path);
  expect(response.status, path).toBe(200);
  return response.json();
}

/** Asks a tool over MCP. Gives the structured content as JSON. */
async function callTool(name: string, args: object): Promise<string> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await walked.live.fetch('/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Host: new URL(SITE.baseUrl).host,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
  });
  const text = await response.text();
  const { result } = JSON.parse(text.startsWith('{') ? text : (text.trim().split('\ndata: ').at(-1) ?? ''));
  expect(result?.isError, text).not.toBe(true);
  return JSON.stringify(result.structuredContent);
}

async function runCommand(...args: string[]): Promise<string> {
  const commands = makeCommands({ CATALOGUE: walked.catalogue.address }, () => AT);
  const { code, stdout, stderr } = await commands.run(args);
  expect(code, stderr).toBe(0);
  return stdout.replace(/\s+/g, ' ');
}

/** What a 402 of the route asks now. */
function buildGiven(code: CautionCode) {
  const { listing, route } = getCase(code);
  const offers = getCurrentTerms(route.terms).map((terms) => ({ ...terms, pay_to: terms.pay_to ?? OTHER_PAYEE }));
  const url = getRouteUrl(listing.base_url, route.path);
  return { url, challenge: buildChallenge(offers, 2, url) };
}

/** Gives the card of a listing on a page, as its HTML. */
async function findCard(path: string, slug: string): Promise<string> {
  const { html, status } = await walked.pages.get(path);
  expect(status, path).toBe(200);
  const cards = html.match(/<li class="card".*?<\/li>/gs) ?? [];
  return (cards.find((card) => card.match(/href="([^"#]+)/)?.[1] === `/api/${slug}`) ?? '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',');
}

it('has a case for every code, and nothing in it is stale', async () => {
  expect(Object.keys(CASES).sort()).toEqual([...CAUTION_CODES].sort());
  expect(await listStaleListings(walked.catalogue)).toEqual([]);
});

it('marks the cards of the home page', async () => {
  const cards = await Promise.all(CAUTION_CODES.map((code) => findCard('/', getSlug(code))));
  const missing = CAUTION_CODES.filter((code, at) => cards[at] !== '' && !cards[at]?.includes(getStanding(code).text));
  expect([cards.some((card) => card !== ''), missing]).toEqual([true, []]);
});

describe.each(CAUTION_CODES)('%s', (code) => {
  it('holds alone for its listing, dated, with evidence and the reply', () => {
    const { held, caution } = getCase(code);
    expect([...new Set(held.map((one) => one.caution.code))]).toEqual([code]);
    expect(caution).toMatchObject({ severity: CAUTIONS[code].severity, reply: { text: getReply(code) } });
    expect(Number.isNaN(Date.parse(caution.since ?? ''))).toBe(false);
  });

  it('is on the listing page, with evidence and reply, and no code that pays where it is of danger', async () => {
    const { slug, caution } = getCase(code);
    const { status, text, html } = await walked.pages.get(`/api/${slug}`);
    expect(status).toBe(200);
    const words = text.replace(/\s+([).,])/g, '$1');
    expect(words).toContain(
      isDanger(code) ? `Danger: ${getStanding(code).text}` : `Worth knowing: ${CAUTIONS[code].label}`,
    );
    expect(words).toContain(describeCaution(caution));
    expect(words).toContain(describeCautionEvidence(caution));
    expect(words).toContain(getReply(code));
    expect(/wrapFetchWithPayment|@x402\/|x402\[|x402_requests|EthAccountSigner/.test(html)).toBe(!isDanger(code));
    if (isDanger(code)) expect(words).toContain('Do not pay for it.');
  });

  it('is in the Markdown twin', async () => {
    const { slug, caution } = getCase(code);
    const { html, type } = await walked.pages.get(`/api/${slug}.md`);
    expect(type).toMatch(/^text\/markdown/);
    expect(html).toContain(`**${isDanger(code) ? 'Danger: do not pay' : 'Caution'}**`);
    expect(html).toContain(describeCaution(caution));
    expect(html.replaceAll('\\', '')).toContain(getReply(code));
    expect(/wrapFetchWithPayment|@x402\//.test(html)).toBe(!isDanger(code));
  });

  it('is on its card, wherever the listing has one', async () => {
    const { slug, caution } = getCase(code);
    const mark = `${isDanger(code) ? 'Danger: ' : ''}${getStanding(code).text}`;
    for (const path of ['/search?q=walked', '/category/finance', '/']) {
      const card = await findCard(path, slug);
      if (path === '/' && card === '') continue;
      // Its other route answers better, which was seen.
      if (path.startsWith('/search') && code === 'never_seen') {
        expect(card).toContain('unverified');
        continue;
      }
      expect(card, path).toContain(mark);
      expect(card, path).toContain(getDay(caution));
    }
  });

  it('is in the list item and in the detail of the JSON interface', async () => {
    const { slug, caution, listing } = getCase(code);
    const { listings } = await getJson('/agent/list');
    const item = listings.find((one: { slug: string }) => one.slug === slug);
    expect(item.cautions).toMatchObject([{ code, severity: caution.severity, since: caution.since }]);
    const detail = await getJson(`/agent/listings/${slug}`);
    const shown = [
      ...detail.listing.listing_cautions,
      ...detail.listing.routes.flatMap((one: (typeof listing.routes)[0]) => one.cautions),
    ];
    expect(shown).toContainEqual(caution);
  });

  it('is in llms-full.txt and in the OpenAPI tag', async () => {
    const { slug } = getCase(code);
    const phrase = CAUTIONS[code].sentence.slice(1, -1);
    const guide = await (await walked.live.get('/llms-full.txt')).text();
    const section = guide.split('\n## ').find((part) => part.startsWith(`${slug}\n`)) ?? '';
    expect(section).toMatch(new RegExp(`^- On record: .*${CAUTIONS[code].severity}: .${phrase}`, 'm'));
    const { tags } = await getJson('/openapi.json');
    const tag = tags.find(({ name }: { name: string }) => name === slug);
    expect(tag.description).toContain(phrase);
  });

  it('comes first in what the MCP tools say of it', async () => {
    const { slug, caution, route } = getCase(code);
    const q = `walked ${code.replaceAll('_', ' ')} ${route.path}`;
    const found: string = await callTool('search_listings', { q });
    const at = found.indexOf(`"slug":"${slug}"`);
    const item = found.slice(found.lastIndexOf('{', at), at);
    expect(item).toMatch(isDanger(code) ? /^\{"caution":"DANGER, do not pay, / : /^\{"caution":"/);
    const name = isDanger(code) ? code : CAUTIONS[code].label;
    expect(item).toContain(`${name}, ${code === 'never_seen' ? 'declared' : 'since'} ${getDay(caution)}`);
    const detail = await callTool('get_listing', { slug });
    expect(detail).toMatch(new RegExp(`"listing":\\{"caution":"[^"]*${name}`));
    if (getCase(code).listing.cautions.length === 0) {
      expect(detail).toContain(`{"cautions":["${caution.severity}, ${code}: ${describeCaution(caution)}`);
      expect(detail).toContain('mean it.');
    }
  });

  it('is in the check of a 402, which calls nothing safe where it is of danger', async () => {
    const { caution } = getCase(code);
    const given = buildGiven(code);
    const response = await walked.live.fetch('/agent/check', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(given),
    });
    const asked = await response.json();
    expect(asked.cautions).toEqual([{ ...caution, detail: describeCaution(caution) }]);
    const told = await callTool('check_payment_terms', given);
    for (const answer of [asked, JSON.parse(told)]) {
      if (isDanger(code)) {
        expect(answer).toMatchObject({ verdict: 'caution', severity: 'danger', reason: code });
        expect(answer.safe_offers ?? []).toEqual([]);
        expect(answer.summary).toMatch(/^Do not pay\./);
      } else {
        const verdicts = new Map<CautionCode, string>([
          ['never_seen', 'unseen'],
          ['payee_announced', 'caution'],
        ]);
        expect(answer).toMatchObject({ verdict: verdicts.get(code) ?? 'match', severity: 'notice' });
        if (code === 'payee_announced') expect(answer.safe_offers ?? []).toEqual([]);
      }
    }
    expect(told).toContain(code);
  });

  it('is in the changes: feed, page and JSON', async () => {
    const { slug } = getCase(code);
    const phrase = CAUTIONS[code].sentence.slice(1, -1);
    const { changes } = await getJson('/agent/changes?since=0&limit=1000');
    const told = changes.filter((one: { slug: string; kind: string }) => one.slug === slug && one.kind === 'cautioned');
    expect(told.map(({ reason }: { reason: string }) => reason)).toContain(code);
    // A caution of the whole listing names no route.
    const named = told.flatMap(({ detail }: { detail: { routes: string[]; added: string[] } }) => [
      ...detail.routes,
      ...detail.added,
    ]);
    expect(named.filter((route: string) => !/^[A-Z]+ \//.test(route))).toEqual([]);
    const feed = await (await walked.live.get('/changes.atom')).text();
    const entries = feed.split('<entry>').filter((entry) => entry.includes(`<title>${slug}: `));
    const telling = entries.filter((entry) => /<title>(.*?)<\/title>/.exec(entry)?.[1]?.includes(phrase));
    // A danger leads the news of its listing; a notice may stand below a new price or payee. What has not happened yet is no news.
    const isNews = code !== 'never_seen';
    const found = isDanger(code) ? telling : entries.filter((entry) => entry.includes(phrase));
    const { text } = await walked.pages.get('/changes');
    expect([found.length > 0, text.includes(phrase)]).toEqual([isNews, isNews]);
  });

  it('is in what the commands why and show say', async () => {
    const { slug, caution } = getCase(code);
    const why = await runCommand('why', slug);
    expect(why).toContain(`${describeCaution(caution)} On record: ${describeCautionEvidence(caution)}.`);
    expect(why).toContain(getReply(code));
    const show = await runCommand('show', slug);
    expect(show).toContain(`${caution.severity}: ${describeCaution(caution)}`);
    expect(show).toContain(getReply(code));
  });

  it('is stamped on the share picture where it is of danger, before any proof', () => {
    const { listing } = getCase(code);
    const { stamp } = buildListingPicture(buildAgentItem(listing, SITE), SITE);
    if (isDanger(code)) expect(stamp).toEqual(getStanding(code));
    else expect(stamp?.tone).not.toBe('danger');
  });

  it('is in the resources for other catalogues', async () => {
    const { listing, route, caution } = getCase(code);
    const { items } = await getJson('/discovery/resources?limit=100');
    const url = getRouteUrl(listing.base_url, route.path);
    const resource = items.find((one: { resource: string }) => one.resource === url);
    // A route that names a fresh payee each time has no terms that anybody else could compare with.
    if (code === 'payee_rotates') return expect(resource).toBeUndefined();
    expect(resource.extensions['agent-payable'].info.cautions).toEqual([caution]);
  });
});
