import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseRobots } from '../../src/probing/robots.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { listOwnEntries } from '../../src/views/registry.ts';
import { makeCatalogue } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';
import { SITE, serveLive } from './serving.ts';

const mediaType = z.string().regex(/^[\w-]+\/[\w.+-]+$/);

/** RFC 9264, section 4.2: contexts with an anchor; every other member is a relation with its targets. */
const linkset = z.strictObject({
  linkset: z
    .array(
      z
        .object({ anchor: z.url() })
        .catchall(
          z
            .array(z.strictObject({ href: z.url(), type: mediaType.optional(), title: z.string().optional() }))
            .nonempty(),
        ),
    )
    .nonempty(),
});

/** ARD 0.91, section 4.2, as far as this service uses its terms. */
const ardEntry = z.strictObject({
  identifier: z.string().regex(/^urn:air:[a-z0-9.-]+(:[a-z0-9-]+){2}$/),
  type: z.string().regex(/^[\w-]+\/[\w.+-]+(?:; profile="[\w:-]+")?$/),
  url: z.url(),
  displayName: z.string().min(1),
  description: z.string().min(1),
  tags: z.array(z.string().min(1)),
  // An entry without them is not found by search.
  representativeQueries: z.array(z.string().min(1)).min(2).max(5),
});

/** AI Catalog 1.0, "Top-Level Structure", "Host Info" and "Catalog Entry", and ARD, as far as this service uses them. */
const aiCatalog = z.strictObject({
  specVersion: z.literal('1.0'),
  host: z.strictObject({ displayName: z.string().min(1), identifier: z.string(), documentationUrl: z.url() }),
  entries: z.array(ardEntry),
});

const MANIFESTS = resolve(import.meta.dirname, '../../data/listings');

const PATHS = [
  '/.well-known/api-catalog',
  '/.well-known/ai-catalog.json',
  '/.well-known/ard.json',
  '/.well-known/agent-skills/index.json',
  '/.well-known/agent-skills/find-and-pay-apis/SKILL.md',
  '/.well-known/mcp/server-card.json',
  '/mcp/server-card',
  '/server.json',
  '/.well-known/security.txt',
  '/robots.txt',
  '/llms-full.txt',
  '/sitemap-index.xml',
  '/sitemap-1.xml',
];

describe('the API catalogue', () => {
  it('is a linkset that names every door with its description, documentation and state', async () => {
    const { get } = await serveLive(await makeCatalogue());
    const response = await get('/.well-known/api-catalog');
    expect(response.headers.get('content-type')).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    const [catalog, ...apis] = linkset.parse(await response.json()).linkset;
    expect(catalog?.anchor).toBe(`${SITE.baseUrl}/.well-known/api-catalog`);
    const items = z.array(z.object({ href: z.string() })).parse(catalog?.item);
    expect(apis.map(({ anchor }) => anchor)).toEqual(items.map(({ href }) => href));
    for (const api of apis) {
      expect(Object.keys(api)).toEqual(
        expect.arrayContaining(['service-desc', 'service-doc', 'service-meta', 'status']),
      );
    }
  });

  it('is found by HEAD alone', async () => {
    const { fetch } = await serveLive(await makeCatalogue());
    const head = await fetch('/.well-known/api-catalog', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('link')).toContain(`<${SITE.baseUrl}/.well-known/api-catalog>; rel="api-catalog"`);
  });
});

describe('agent discovery', () => {
  it('lists server, registry and skill, each once, and the same where the list was before', async () => {
    const { get } = await serveLive(await makeCatalogue());
    const [now, before] = [await get('/.well-known/ard.json'), await get('/.well-known/ai-catalog.json')];
    expect(now.headers.get('content-type')).toBe('application/json');
    expect(before.headers.get('content-type')).toBe('application/ai-catalog+json');
    const { entries } = z
      .strictObject({ specVersion: z.literal('1.0'), entries: z.array(ardEntry) })
      .parse(await now.json());
    expect(aiCatalog.parse(await before.json()).entries).toEqual(entries);
    expect(new Set(entries.map(({ identifier }) => identifier)).size).toBe(entries.length);
    expect(entries.map(({ type, url }) => [type, url])).toEqual([
      ['application/mcp-server-card+json', `${SITE.baseUrl}/mcp/server-card`],
      ['application/ai-registry+json', SITE.baseUrl],
      [
        'text/markdown; profile="urn:air:agent-skills"',
        `${SITE.baseUrl}/.well-known/agent-skills/find-and-pay-apis/SKILL.md`,
      ],
    ]);
    expect(now.headers.get('link')).toContain(`<${SITE.baseUrl}/.well-known/ard.json>; rel="ard"`);
  });

  it('names requests that the listings of the repository answer, and answer well', async () => {
    const commands = makeCommands();
    expect((await commands.runJson('import', MANIFESTS)).code).toBe(0);
    const reading = await openTestReading({ address: commands.file });
    onTestFinished(() => reading.close());
    const queries = listOwnEntries(SITE).flatMap(({ representativeQueries }) => representativeQueries);
    expect(queries.length).toBeGreaterThanOrEqual(10);
    for (const q of queries) {
      const { answer, total } = selectListings(
        reading.published,
        reading.getSnapshot(),
        listQuery.parse({ q, limit: 1 }),
      );
      expect([q, total > 0, answer?.isWeak]).toEqual([q, true, false]);
    }
  });

  it('has a skill with the name of its folder, whose index holds the digest of its very bytes', async () => {
    const { get } = await serveLive(await makeCatalogue());
    const index = await get('/.well-known/agent-skills/index.json');
    expect(index.headers.get('content-type')).toBe('application/json');
    const { $schema, skills } = (await index.json()) as { $schema: string; skills: Record<string, string>[] };
    expect($schema).toBe('https://schemas.agentskills.io/discovery/0.2.0/schema.json');
    expect(skills).toHaveLength(1);
    for (const { name = '', type, description = '', url = '', digest } of skills) {
      expect([type, url]).toEqual(['skill-md', `/.well-known/agent-skills/${name}/SKILL.md`]);
      expect(name).toMatch(/^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/);
      const skill = await get(url);
      expect(skill.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      const text = await skill.text();
      expect(digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
      const [, front = '', body = ''] = text.split(/^---\n/m);
      expect(parse(front)).toEqual({ name, description });
      expect(description.length).toBeLessThanOrEqual(1024);
      for (const path of ['/mcp', '/agent/list', '/agent/check', '/llms.txt'])
        expect(body).toContain(`${SITE.baseUrl}${path}`);
    }
  });
});

it('robots.txt lets every robot read everything, and names the sitemaps and the guide', async () => {
  const text = await (await (await serveLive(await makeCatalogue())).get('/robots.txt')).text();
  const { findForbidding, delayMs } = parseRobots(text);
  expect(['/', '/api/x', '/agent/list?q=x'].map((path) => findForbidding(`${SITE.baseUrl}${path}`))).toEqual(
    Array(3).fill(undefined),
  );
  expect(delayMs).toBe(0);
  expect(text.match(/^Sitemap: .*$/gm)).toEqual([`Sitemap: ${SITE.baseUrl}/sitemap-index.xml`]);
  expect(text).toMatch(/^# .*\/llms\.txt$/m);
});

describe('security.txt', () => {
  const read = async (site = SITE, now?: () => Date) => {
    const response = await (await serveLive(await makeCatalogue(), now, site)).get('/.well-known/security.txt');
    return { response, text: await response.text() };
  };
  /** Reads the fields as RFC 9116, section 2.2, has them: a name, a colon and a value on a line, and comments. */
  const parse = (text: string) => {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return lines.map((line) => /^([A-Za-z-]+): (.+)$/.exec(line)?.slice(1) ?? ['not a field', line]);
  };

  it('has the fields of RFC 9116, the contact from the settings', async () => {
    const { response, text } = await read();
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(parse(text)).toEqual([
      ['Contact', SITE.contactUrl],
      ['Expires', expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/)],
      ['Preferred-Languages', 'en'],
      ['Canonical', `${SITE.baseUrl}/.well-known/security.txt`],
    ]);
  });

  it.each([
    ['2026-11-20T12:00:00.000Z', '2027-11-20T00:00:00Z'],
    ['2026-11-20T23:59:59.999Z', '2027-11-20T00:00:00Z'],
    ['2026-11-21T00:00:00.000Z', '2027-11-21T00:00:00Z'],
    ['2028-02-29T09:00:00.000Z', '2029-02-28T00:00:00Z'],
  ])('read at %s expires at %s: within a year, and the same all day', async (at, expires) => {
    const { text } = await read(SITE, () => new Date(at));
    expect(Object.fromEntries(parse(text)).Expires).toBe(expires);
    expect(Date.parse(expires) - Date.parse(at)).toBeLessThanOrEqual(365 * 86_400_000);
  });

  it.each([
    ['no contact is set', { ...SITE, contactUrl: SITE.baseUrl }],
    ['the contact is not https', { ...SITE, contactUrl: 'http://catalogue.example/contact' }],
  ])('is not there where %s, and that is said', async (_, site) => {
    const { response, text } = await read(site);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({ code: 'no_contact', detail: expect.stringContaining('CONTACT_URL') });
  });

  it('names no canonical address that is not https', async () => {
    const { text } = await read({ ...SITE, baseUrl: 'http://localhost:4321' });
    expect(parse(text).map(([name]) => name)).toEqual(['Contact', 'Expires', 'Preferred-Languages']);
  });
});

describe('every convention', () => {
  it('is open, revalidated, compressed and answered for HEAD', async () => {
    const { get, fetch } = await serveLive(await makeCatalogue());
    for (const path of PATHS) {
      const plain = await get(path);
      const text = await plain.text();
      expect([path, plain.status, plain.headers.get('access-control-allow-origin')]).toEqual([path, 200, '*']);
      expect([path, plain.headers.get('cache-control')]).toEqual([path, expect.stringMatching(/^public, max-age=\d+/)]);
      expect([path, plain.headers.get('content-length')]).toEqual([path, String(Buffer.byteLength(text))]);
      const zipped = await get(path, { 'Accept-Encoding': 'gzip' });
      const bytes = Buffer.from(await zipped.arrayBuffer());
      expect([path, zipped.headers.get('content-length')]).toEqual([path, String(bytes.length)]);
      const isZipped = zipped.headers.get('content-encoding') === 'gzip';
      expect([path, isZipped]).toEqual([path, /llms-full|sitemap-1/.test(path) || Buffer.byteLength(text) >= 1024]);
      expect([path, (isZipped ? gunzipSync(bytes) : bytes).toString()]).toEqual([path, text]);
      const etag = plain.headers.get('etag') ?? '';
      const again = await get(path, { 'If-None-Match': etag });
      expect([path, again.status, again.headers.get('etag')]).toEqual([path, 304, etag]);
      const head = await fetch(path, { method: 'HEAD' });
      expect([path, head.status, await head.text(), head.headers.get('etag')]).toEqual([path, 200, '', etag]);
    }
  });

  it('says by its headers and in the changelog when it is to go, and what takes its place', async () => {
    const { get } = await serveLive(await makeCatalogue());
    const deprecation = await get('/.well-known/mcp/server-card.json');
    expect([deprecation.status, deprecation.headers.get('deprecation'), deprecation.headers.get('sunset')]).toEqual([
      ...[200, '@1795305600', 'Mon, 22 Nov 2027 00:00:00 GMT'],
    ]);
    expect(deprecation.headers.get('link')).toContain(`<${SITE.baseUrl}/docs/changelog>; rel="deprecation"`);
    expect(deprecation.headers.get('link')).toContain(`<${SITE.baseUrl}/mcp/server-card>; rel="successor-version"`);
    expect(deprecation.headers.get('link')).toContain('rel="service-desc"');
    for (const path of PATHS.filter((path) => path !== '/.well-known/mcp/server-card.json')) {
      const { headers } = await get(path);
      expect([path, headers.get('deprecation'), headers.get('sunset')]).toEqual([path, null, null]);
    }
  });

  it('takes GET and HEAD alone, and no parameter', async () => {
    const { get, fetch } = await serveLive(await makeCatalogue());
    for (const path of PATHS) {
      const post = await fetch(path, { method: 'POST' });
      expect([path, post.status, post.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
      const preflight = await fetch(path, { method: 'OPTIONS' });
      expect([path, preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([path, 204, '*']);
      const odd = await get(`${path}?limit=1`);
      expect([path, odd.status, await odd.json()]).toEqual([
        path,
        400,
        expect.objectContaining({ code: 'unknown_parameter' }),
      ]);
    }
  });

  it('writes every address from the settings, whatever Host it is asked by', async () => {
    const { get } = await serveLive(await makeCatalogue());
    for (const path of PATHS) {
      const text = await (await get(path, { Host: 'evil.example' })).text();
      const hosts = [...text.matchAll(/https?:\/\/([^/"<>\s)`]+)/g)].map(([, host]) => host);
      const foreign = hosts.filter((host) => host !== new URL(SITE.baseUrl).host);
      // The last is invented: the seller of the call that the skill shows.
      const standards = [
        'www.rfc-editor.org',
        'www.sitemaps.org',
        'static.modelcontextprotocol.io',
        'schemas.agentskills.io',
        'api.example.com',
      ];
      expect([path, foreign.filter((host) => !standards.includes(host ?? ''))]).toEqual([path, []]);
    }
  });
});
