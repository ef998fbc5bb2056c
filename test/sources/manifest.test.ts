import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { parseManifest } from '../../src/sources/manifest.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../../src/x402/offer-fields.ts';
import { startProcessorTime } from '../processor-time.ts';

const OPTIONS = { allowPrivateNetworks: false, now: '2026-11-20T12:00:00.000Z' };
const HEAD = 'name: Tides\nbase_url: https://api.tides.example\ntagline: Heights of the tide.\n';

function parse(text: string) {
  return parseManifest(text, '/somewhere/tides.yaml', OPTIONS);
}

/** What was found, as `code line: message` without the file's name. */
function listFindings(text: string): string[] {
  return parse(text).findings.map(({ code, item, message }) => {
    expect(item).toBe('tides.yaml');
    expect(message).toMatch(/^tides\.yaml[,:] /);
    return `${code} ${message.replace(/^tides\.yaml(?:, line |: )/, '')}`;
  });
}

describe('a whole manifest', () => {
  const text = `# yaml-language-server: $schema=../manifest.schema.json
name: Tides
provider: Tide Tables Ltd
slug: tides
base_url: https://API.tides.example/v2/
tagline: Heights of the tide.
description: |
  First paragraph.

  Second one.
category: Data
mcp_endpoint: https://api.tides.example/mcp
docs_url: https://tides.example/docs
networks: [base, solana]
observed: { source: their own 402, at: 2026-03-17 }
routes:
  - method: GET
    path: /height/:harbour?unit=m
    description: Height now.
    price_usdc: 0.10
    pay_to: { base: "0x1111111111111111111111111111111111111ABC" }
    mime_type: application/json
    example: { query: { days: 2 }, headers: { x-units: metric, authorization: Bearer x } }
    output_schema: { type: object, properties: { metres: { type: number } } }
  - method: POST
    path: /alert
    price_usdc: "0.000001"
    networks: [base]
    example: { body: { harbour: Brest } }
`;

  it('becomes a declaration with every field', () => {
    const { declaration: built, findings } = parse(text);
    expect(declaration.parse(built)).toEqual(built);
    expect(built).toMatchObject({
      source: { kind: 'manifest', name: 'tides.yaml', observed_at: '2026-03-17T00:00:00.000Z' },
      base_url: 'https://api.tides.example/v2',
      slug: 'tides',
      service_name: 'Tides',
      title: 'Tides',
      provider_name: 'Tide Tables Ltd',
      tagline: 'Heights of the tide.',
      description: 'First paragraph.\n\nSecond one.',
      category: 'Data',
      mcp_endpoint: 'https://api.tides.example/mcp',
      docs_url: 'https://tides.example/docs',
      price: null,
      networks: [],
    });
    expect(findings.map(({ severity, code }) => [severity, code])).toEqual([['noted', 'header_removed']]);
  });

  it('gives each route terms on its networks, prices to the last digit', () => {
    const [height, alert] = parse(text).declaration?.routes ?? [];
    expect(height).toMatchObject({ method: 'GET', path: '/height/:harbour?unit=m', mime_type: 'application/json' });
    expect(height?.example).toEqual({ query: { days: '2' }, headers: { 'x-units': 'metric' } });
    const base = { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc, amount: 100_000 };
    expect(height?.terms).toEqual([
      { ...base, pay_to: '0x1111111111111111111111111111111111111abc', max_timeout_seconds: null, x402_version: null },
      {
        ...base,
        ...{ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: null },
        ...{ max_timeout_seconds: null, x402_version: null },
      },
    ]);
    expect(alert?.terms.map(({ network, amount }) => [network, amount])).toEqual([['base', 1]]);
  });

  it('needs little: the defaults are the name, base, no evidence', () => {
    const { declaration: built, findings } = parse(`${HEAD}price_usdc: {min: "0.01", max: 0.05}\n`);
    expect(findings).toEqual([]);
    expect(built).toMatchObject({
      source: { observed_at: null },
      provider_name: 'Tides',
      slug: null,
      category: null,
      price: { min: 10_000, max: 50_000 },
      networks: ['base'],
      routes: [],
    });
  });

  it('is taken without a price, which is noted', () => {
    const { declaration: built, findings } = parse(`${HEAD}routes: [{method: GET, path: /x}]\n`);
    expect(built?.routes[0]?.terms).toEqual([]);
    expect(findings.map(({ severity, code }) => [severity, code])).toEqual([['noted', 'no_price']]);
  });

  it('has its text cleaned, which is noted', () => {
    const { declaration: built, findings } = parse(`${HEAD.replace('Tides', '"<b>Ti\\u200Bdes</b>"')}price_usdc: 1\n`);
    expect(built?.title).toBe('Tides');
    expect(findings.map(({ code }) => code)).toContain('hidden_text');
  });
});

describe('an address', () => {
  it.each([
    ['https://api.tides.example', 'https://api.tides.example'],
    ['https://api.tides.example/', 'https://api.tides.example'],
    ['https://API.tides.example:443/v1/#top', 'https://api.tides.example/v1'],
    ['https://api.tides.example:8443/v1?tenant=a', 'https://api.tides.example:8443/v1?tenant=a'],
  ])('%s has one form, %s', (given, kept) => {
    const text = HEAD.replace('https://api.tides.example', given);
    expect(parse(`${text}price_usdc: 1`).declaration?.base_url).toBe(kept);
  });

  it.each([
    ['http://api.tides.example', 'not_https'],
    ['https://127.0.0.1', 'blocked_address'],
    ['https://localhost', 'blocked_host'],
    ['https://a:b@api.tides.example', 'userinfo'],
    ['https://tides.ngrok.io', 'ephemeral_host'],
    ['tides', 'bad_url'],
  ])('%s is refused as %s', (given, code) => {
    const { declaration: built, findings } = parse(`${HEAD.replace('https://api.tides.example', given)}price_usdc: 1`);
    expect(built).toBeUndefined();
    expect(findings).toMatchObject([{ severity: 'refused', code }]);
    expect(findings[0]?.message).toContain('line 2: base_url');
  });
});

describe('a placeholder in an address', () => {
  it.each([
    ['base_url', 'https://api.tides.example/{tenant}/v1', '{tenant}', 'paths of the routes'],
    ['base_url', 'https://api.tides.example/:tenant', ':tenant', 'paths of the routes'],
    ['base_url', 'https://api.tides.example/v1?key=<key>', '<key>', 'paths of the routes'],
    ['base_url', 'https://{tenant}.tides.example/v1', '{tenant}', 'a listing of its own for each host'],
    ['docs_url', 'https://tides.example/{version}', '{version}', 'that can be opened'],
  ])('is named, with what to write instead: %s %s', (field, address, shown, advice) => {
    const text =
      field === 'base_url' ? HEAD.replace('https://api.tides.example', address) : `${HEAD}${field}: "${address}"\n`;
    const [finding, ...more] = parse(`${text}price_usdc: 1\n`).findings;
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ severity: 'refused', code: 'manifest_bad_value' });
    expect(finding?.message).toContain(`${field} holds the placeholder ${shown}`);
    expect(finding?.message).toContain(advice);
  });

  it('is not a port or a colon', () => {
    const text = HEAD.replace('https://api.tides.example', 'https://api.tides.example:8443/v1/a:b');
    expect(parse(`${text}price_usdc: 1`).declaration?.base_url).toBe('https://api.tides.example:8443/v1/a:b');
  });
});

describe('a text without visible content', () => {
  const REST = '\nprice_usdc: 1\n';

  it.each([
    ['name', HEAD.replace('Tides', '"<b></b>"') + REST, 1],
    ['name', HEAD.replace('Tides', '"\\u200B\\u2060"') + REST, 1],
    ['name', HEAD.replace('Tides', '"  "') + REST, 1],
    ['tagline', HEAD.replace('Heights of the tide.', '"<script>x</script>"') + REST, 3],
    ['provider', `${HEAD}provider: "<img src=x>"${REST}`, 4],
    ['description', `${HEAD}description: "<!-- hidden -->"${REST}`, 4],
    ['observed.source', `${HEAD}observed: {source: "\\u202E", at: 2026-03-17}${REST}`, 4],
    ['routes[0].description', `${HEAD}routes: [{method: GET, path: /x, description: "<i>", price_usdc: 1}]`, 4],
  ])('is refused like an empty one: %s of %j', (field, text, line) => {
    expect(parse(text).declaration).toBeUndefined();
    expect(listFindings(text)).toEqual([
      `manifest_bad_value ${line}: ${field} has nothing that can be shown, only markup, blanks or invisible characters; write some text, or leave an optional field out.`,
    ]);
  });
});

describe('an implausible price', () => {
  it.each([
    ['price_usdc: 1000.000001', 4],
    ['price_usdc: 9999999999', 4],
    ['price_usdc: "9007199255"', 4],
    ['price_usdc: {min: 0.01, max: 9999999999}', 4],
    ['routes: [{method: GET, path: /x, price_usdc: 9999999999, networks: [base, solana]}]', 4],
  ])('%s is refused', (text, line) => {
    const { declaration: built, findings } = parse(HEAD + text);
    expect(built).toBeUndefined();
    expect(findings.map(({ severity, code }) => [severity, code])).toEqual([['refused', 'implausible_price']]);
    expect(findings[0]?.message).toMatch(new RegExp(`^tides.yaml, line ${line}: .* at most 1000 USDC`));
  });

  it('begins exactly above the limit that also holds for feeds', () => {
    expect(parse(`${HEAD}price_usdc: 1000\n`).declaration?.price).toEqual({ min: 1e9, max: 1e9 });
    expect(MAX_PLAUSIBLE_AMOUNT).toBe(1e9);
  });

  it('is named with the limit if it has too many digits', () => {
    expect(listFindings(`${HEAD}price_usdc: 100000000000`)).toEqual([
      expect.stringMatching(/^manifest_bad_value 4: price_usdc is "100000000000", but takes .* at most 1000/),
    ]);
  });
});

describe('a message about a huge value', () => {
  const HUGE = `${'ä'.repeat(900)}x`;

  it.each([
    `${HEAD.replace('https://api.tides.example', 'https://api.tides.example/v1')}routes: [{method: GET, path: /../../${HUGE}}]`,
    `${HEAD}routes: [{method: GET, path: /${HUGE}, price_usdc: 1}, {method: GET, path: /${HUGE}, price_usdc: 1}]`,
    `${HEAD}price_usdc: 1\nobserved: {source: x, at: 2027-01-01T00:00:00.${'0'.repeat(900)}Z}`,
    `${HEAD}price_usdc: 1${'0'.repeat(900)}`,
    `${HEAD}${HUGE}: 1`,
    `${HEAD}${HUGE}: 1\n${HUGE}: 1`,
    `${HEAD}category: ${HUGE}`,
    `${HEAD}slug: ${HUGE}`,
    `${HEAD}x: ]${HUGE}`,
    `${HEAD}x: "\\${HUGE}"`,
    `${HEAD}x: {a b: ${HUGE}: ${HUGE}}`,
    `${HEAD}x: %${HUGE}`,
    `${HEAD}x: @${HUGE}`,
    `${HEAD}price_usdc: 1\nmcp_endpoint: "https://{${HUGE}}"`,
    `${HEAD}price_usdc: 1\nmcp_endpoint: "https://${HUGE}"`,
    `${HEAD}routes: [{method: ${HUGE}, path: /x}]`,
    `${HEAD}routes: [{method: POST, path: /x, example: {headers: {"${HUGE}": x}}}]`,
  ])('quotes only its beginning: %#', (text) => {
    const { findings } = parse(text);
    expect(findings.length).toBeGreaterThan(0);
    for (const { message } of findings) {
      expect(message.length).toBeLessThan(450);
      expect(message).not.toContain('ä'.repeat(200));
    }
  });
});

describe('a broken manifest is refused with its line and what to do', () => {
  it.each([
    ['', 'manifest_empty 1: the file is empty.'],
    ['# only a comment', 'manifest_empty 1: the file is empty.'],
    ['- a', 'manifest_bad_value 1: The manifest is a list, but takes a mapping.'],
    [
      'name: "Tides',
      'manifest_yaml 1: this is not well-formed YAML. Missing closing "quote. A quote or bracket that is opened must be closed.',
    ],
    ['name:\n\ttides: 1', 'manifest_tab 2: the line is indented with a tab; use spaces.'],
    [
      'name: !!js/function x',
      'manifest_alias 1: there is a YAML tag (!…) here; manifests may not have any, so remove it.',
    ],
    ['name: &a x', 'manifest_alias 1: there is a YAML anchor or alias (& or *) here; write the value out.'],
    [
      'name: a\ntagline: b\nname: c',
      'manifest_duplicate_key 3: "name" appears twice in one mapping; remove one of them.',
    ],
    [
      'a: 1\n---\nb: 2',
      'manifest_many_documents 2: a second YAML document begins here; one file is one listing, so put it into a file of its own.',
    ],
    [`a: ${'['.repeat(100)}${']'.repeat(100)}`, 'manifest_too_deep 1: nothing may be nested deeper than 40 levels.'],
    [
      `${HEAD}price_usdc: 1\nslug: Tide Tables`,
      'manifest_bad_value 5: slug is "Tide Tables", but takes small letters and digits, joined by single hyphens.',
    ],
    [
      `${HEAD}price_usdc: 0.0000001`,
      'manifest_bad_value 4: price_usdc is "0.0000001", but takes a decimal amount of USDC above zero, at most 1000, with at most six decimals, such as "0.01", or {min: …, max: …}.',
    ],
    [`${HEAD}price_usdc: {min: 1}`, 'manifest_missing_field 4: price_usdc.max is missing, which a price range needs.'],
    [`${HEAD}price_usdc: {min: 2, max: 1}`, 'manifest_bad_value 4: The min of price_usdc is above its max.'],
    [
      `${HEAD}price_usdc: 1001`,
      'implausible_price 4: price_usdc is 1001 USDC for one request, which is not plausible; a price is at most 1000 USDC.',
    ],
    [
      `${HEAD}category: finance`,
      'manifest_bad_value 4: category is "finance", but takes one of Data, Finance, Intelligence, Tools, Verification.',
    ],
    [`${HEAD}observed: {source: x, at: 2027-01-01}`, 'bad_date 4: observed.at is 2027-01-01, which is in the future.'],
    [
      `${HEAD}prise_usdc: 1`,
      'manifest_unknown_field 4: "prise_usdc" is not a field of a manifest; did you mean "price_usdc"? Its fields are name, base_url, tagline, provider, slug, description, category, mcp_endpoint, docs_url, price_usdc, networks, observed, routes.',
    ],
    [
      `${HEAD}routes:\n  - method: GET\n    path: x`,
      'manifest_bad_value 6: routes[0].path is "x", but takes a path that begins with / and holds no white space or backslash, and # only before the name of a tool at its end.',
    ],
    [
      `${HEAD}routes:\n  - method: GET\n    path: /../../x\n    price_usdc: 1\nprice_usdc: 1`.replace(
        'example',
        'example/v1',
      ),
      'manifest_bad_value 6: The path /../../x leads out of base_url; write it without "..".',
    ],
    [
      `${HEAD}routes:\n  - {method: GET, path: /x, price_usdc: 1}\n  - {method: GET, path: /x, price_usdc: 2}`,
      'manifest_duplicate_route 6: The route GET /x appears twice; remove one of them.',
    ],
    [
      `${HEAD}price_usdc: 1\nroutes: [{method: GET, path: /x, price_usdc: 1}]`,
      'manifest_two_prices 4: price_usdc is only for a listing without routes; give each route its own.',
    ],
    [
      `${HEAD}routes: [{method: GET, path: /x, price_usdc: 1, pay_to: {base: "0x1"}}]`,
      'bad_pay_to 4: pay_to.base is not an account of Base.',
    ],
    [
      `${HEAD}routes: [{method: GET, path: /x, price_usdc: 1, pay_to: {solana: x}}]`,
      'bad_pay_to 4: pay_to names solana, but the route is not paid on solana; add it to networks, or remove it.',
    ],
  ])('%j', (text, finding) => {
    expect(parse(text).declaration).toBeUndefined();
    expect(listFindings(text)).toContain(finding);
    expect(parse(text).findings.every(({ severity }) => severity === 'refused')).toBe(true);
  });

  it('lists all problems at once, by line, up to twenty', () => {
    const lines = listFindings(`${HEAD}routs: 1\ncategory: x\nslug: "-"\n`).map((finding) => finding.split(':')[0]);
    expect(lines).toEqual(['manifest_unknown_field 4', 'manifest_bad_value 5', 'manifest_bad_value 6']);
    const many = listFindings(HEAD + Array.from({ length: 100 }, (_, index) => `x${index}: 1`).join('\n'));
    expect(many).toHaveLength(20);
    expect(many.at(-1)).toMatch(/And 80 more\.$/);
  });

  it('even if its nesting overflows the YAML parser', () => {
    const codes = parse(`a: ${'['.repeat(10_000)}`).findings.map(({ code }) => code);
    expect(codes).toEqual(['manifest_too_deep']);
  });

  it('stays quick for very many keys and aliases, and refuses more than a megabyte', () => {
    const measure = (text: string) => {
      const getWork = startProcessorTime();
      expect(parse(text).declaration).toBeUndefined();
      return getWork();
    };
    const writeKeys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n');
    const writeAliases = (count: number) => `a: [${'*a,'.repeat(count)}]`;
    // Ten times as much is about ten times the work, not a hundred times.
    expect(measure(writeKeys(40_000)) / measure(writeKeys(4_000))).toBeLessThan(50);
    expect(measure(writeAliases(50_000)) / measure(writeAliases(5_000))).toBeLessThan(50);
    expect(listFindings('#'.repeat(1024 * 1024 + 1))).toEqual(['manifest_too_large The manifest is larger than 1 MB.']);
  });

  it('whatever the text is', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(...HEAD.split('\n'), 'routes:', '  - method: GET', '__proto__: {a: 1}'),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { declaration: built, findings } = parse(lines.join('\n'));
        expect(built !== undefined || findings.some(({ severity }) => severity === 'refused')).toBe(true);
      }),
    );
  });
});
