import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UnrecognisedReason } from '../../src/model/payment.ts';
import { judgeAnswer } from '../../src/paying/judging.ts';
import { buildPaymentAnswer } from '../../src/paying/paid-call.ts';
import { type DeclaredProduct, type JudgedAnswer, judgeProduct, listFields } from '../../src/paying/product.ts';

const NOTHING: DeclaredProduct = { mime_type: null, output_schema: null };

/** Judges a body with the provider's declarations, if any. */
function judge(
  body: unknown,
  { type = 'application/json', own = [], ...more }: Partial<JudgedAnswer> & { type?: string | null } = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const given = { content_type: type, body: new TextEncoder().encode(text), is_whole: true, declared: NOTHING, own };
  const last = [...judgeProduct({ ...given, ...more })].at(-1);
  if (!last) throw new Error('no judgement');
  return last;
}

const declare = (mime_type: string | null, output_schema: object | null = null): DeclaredProduct[] => [
  { mime_type, output_schema: output_schema as DeclaredProduct['output_schema'] },
];

describe('an honest answer is recognised as the product', () => {
  it.each<[string, unknown, string?]>([
    ['a quote', { quote: 42 }],
    ['a number', '42'],
    ['no', 'false'],
    ['zero', '0'],
    ['a text in JSON', '"sunny"'],
    ['plain text', 'Sunny, 21 degrees', 'text/plain'],
    ['text that speaks of errors', 'Error rates rose in the third quarter, to 4 %.', 'text/plain'],
    ['text with an error in its lines', 'error: 0\nwarnings: 4\n', 'text/plain'],
    ['CSV', 'a,b\n1,2\n', 'text/csv'],
    ['a picture', '\u0089PNG\r\n', 'image/png'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['a feed', '<?xml version="1.0"?><rss><channel><title>Not Found</title></channel></rss>', 'application/rss+xml'],
    ['Markdown with a tag', '# Title\n<br>', 'text/markdown'],
    ['text that is sent as HTML and has no markup', 'Sunny', 'text/html'],
    ['JSON that is sent as HTML', { quote: 42 }, 'text/html; charset=utf-8'],
    ['JSON that is sent as text', { quote: 42 }, 'text/plain'],
    ['lines of JSON', '{"a":1}\n{"a":2}\n', 'application/x-ndjson'],
    ['events', 'data: {"a":1}\n\n', 'text/event-stream'],
    ['a validator that finds a fault', { valid: false, errors: ['missing @'] }],
    ['a validator with one error', { valid: false, error: 'missing @' }],
    ['a linter', { errors: [{ line: 3, column: 1, rule: 'semi', message: 'Missing semicolon' }] }],
    ['a linter that finds nothing', { errors: [] }],
    ['a result beside no error', { result: { price: 1 }, error: null }],
    ['a result beside an error that is false', { error: false, result: [1] }],
    ['a result with a code', { code: 0, message: 'ok', data: { price: 1 } }],
    ['a result with status 200', { status: 200, message: 'OK', data: [1] }],
    ['part of a result, with errors', { data: { user: { name: 'x' } }, errors: [{ message: 'no avatar' }] }],
    ['a JSON-RPC result', { jsonrpc: '2.0', id: 1, result: '0x10' }],
    ['a message', { message: 'Hello' }],
    ['a margin', { error: 0.02 }],
    ['an estimate and its error', { estimate: 3, error: 1 }],
    ['the state of a job', { id: 'j1', status: 'failed', reason: 'no space left' }],
    ['the state of a site', { url: 'https://a.example', status: 503, message: 'down' }],
    ['a status that was asked for', { status: 404 }],
    ['a one-time code', { code: 456 }],
    ['a search that finds nothing', { results: [], total: 0 }],
    ['a search that finds nothing and says no more', { data: [] }],
    ['a batch with one failure', { results: [{ error: 'x' }, { price: 1 }] }],
    ['a list with one failure', [{ error: 'x' }, { price: 1 }]],
    ['a list of offers for resources', { x402Version: 2, items: [{ accepts: [] }] }],
    ['success that is said', { success: true, message: 'sent' }],
    ['an error that is said to be none', { error: 'None', message: 'sent' }],
    ['an answer as deep as can be', `${'['.repeat(5000)}1${']'.repeat(5000)}`],
  ])('%s', (_name, body, type) => {
    expect(judge(body, type ? { type } : {})).toMatchObject({ unrecognised: null, conforming: 'undeclared' });
  });
});

describe('an answer is not taken for the product', () => {
  it.each<[UnrecognisedReason, unknown, string?]>([
    ['empty', {}],
    ['empty', []],
    ['empty', 'null'],
    ['empty', '""'],
    ['empty', '"  "'],
    ['empty', ' \r\n\t', 'text/plain'],
    ['empty', '\uFEFF', 'text/plain'],
    ['empty', { data: null }],
    ['empty', { result: {} }],
    ['asks_again', { x402Version: 1, error: 'payment required', accepts: [{}] }],
    ['asks_again', { x402Version: 2, accepts: [] }],
    ['error_in_body', { error: 'boom' }],
    ['error_in_body', { Error: { message: 'boom' } }],
    ['error_in_body', { error: true }],
    ['error_in_body', { error_message: 'boom', error_code: 7 }],
    ['error_in_body', { success: false, message: 'no' }],
    ['error_in_body', { success: false, data: {}, message: 'no' }],
    ['error_in_body', { status: 'error', message: 'no' }],
    ['error_in_body', { status: 'error' }],
    ['error_in_body', { status: 'failed', message: 'no', requestId: 'x', timestamp: 'y' }],
    ['error_in_body', { data: null, error: { code: 'X', stack: 'y' } }],
    ['error_in_body', { data: {}, errors: [{ message: 'boom', locations: [{ line: 1 }], path: ['a'] }] }],
    ['error_in_body', { errors: ['boom'] }],
    ['error_in_body', { errors: [{ field: 'symbol', message: 'is required' }] }],
    ['error_in_body', { errors: [...Array(20).fill({ message: 'boom' }), { rule: 'semi' }] }],
    ['error_in_body', { statusCode: 500, message: 'Internal server error' }],
    ['error_in_body', { statusCode: '502', message: 'no' }],
    ['error_in_body', { code: 429, msg: 'slow down', hint: 'wait' }],
    ['error_in_body', { type: 'about:blank', title: 'Out of stock', status: 409 }],
    ['error_in_body', { type: 'https://a.example/p', title: 'Out of stock' }, 'application/problem+json'],
    ['error_in_body', { ok: false }],
    ['error_in_body', { data: { ok: false } }],
    ['error_in_body', { data: { result: { error: 'boom' } } }],
    ['error_in_body', { result: 'error' }],
    ['error_in_body', [{ error: 'boom' }]],
    ['error_in_body', { results: [{ error: 'boom' }, { error: 'bang' }] }],
    ['error_in_body', { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'boom' } }],
    ['error_in_body', { result: { content: [{ type: 'text', text: 'boom' }], isError: true } }],
    ['error_in_body', { message: 'Internal server error' }],
    ['error_in_body', { detail: 'Not Found' }],
    ['error_in_body', { message: 'Endpoint request timed out' }],
    ['error_in_body', '"Internal Server Error"'],
    ['error_in_body', 'Internal Server Error', 'text/plain'],
    ['error_in_body', '502 Bad Gateway', 'text/plain'],
    ['error_in_body', 'error code: 1015', 'text/plain'],
    ['error_in_body', 'An unexpected error occurred. Please try again.', 'text/plain'],
    ['error_in_body', 'Something went wrong', 'text/plain'],
    ['error_in_body', 'upstream connect error or disconnect/reset before headers', 'text/plain'],
    ['error_in_body', 'TypeError: Cannot read properties of undefined\n    at main (/app/x.js:1:1)', 'text/plain'],
    ['error_in_body', 'Traceback (most recent call last):\n  File "a.py", line 1', 'text/plain'],
    ['error_in_body', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'application/xml'],
    ['html_page', '<!doctype html><title>Soon</title>', 'text/html'],
    ['html_page', '<!doctype html><title>Soon</title>', 'application/json'],
    ['html_page', '\n<!-- a --><!-- b -->\n<HTML><body>x', 'text/plain'],
    ['html_page', '<div>Soon</div>', 'text/html; charset=utf-8'],
    ['html_page', '<?xml version="1.0"?><!DOCTYPE html><html/>', 'application/xhtml+xml'],
    ['not_json', '{"quote": 42', 'application/json'],
    ['not_json', 'quote=42', 'application/vnd.quote+json; charset=utf-8'],
    ['error_in_body', '<html><title>502 Bad Gateway</title>', 'text/html'],
  ])('%s: %j', (reason, body, type) => {
    expect(judge(body, type ? { type } : {}).unrecognised).toBe(reason);
  });
});

describe('the media type that the provider declares', () => {
  it.each<[UnrecognisedReason | null, string, string | null, string]>([
    [null, 'text/html', 'text/html', '<!doctype html><title>Product</title>'],
    [null, 'text/*', 'text/html', '<!doctype html><title>Product</title>'],
    ['error_in_body', 'text/html', 'text/html', '<!doctype html><title>500 Internal Server Error</title>'],
    ['html_page', 'text/plain', 'text/html', '<!doctype html><title>Product</title>'],
    [null, 'application/json', 'text/plain', '{"a":1}'],
    [null, 'application/json', null, '{"a":1}'],
    [null, 'application/json; charset=utf-8', 'application/vnd.a+json', '{"a":1}'],
    ['other_media_type', 'application/json', 'text/plain', 'sunny'],
    ['other_media_type', 'application/json', null, 'sunny'],
    ['other_media_type', 'image/png', 'application/json', '{"a":1}'],
    ['other_media_type', 'image/png', 'image/gif', 'GIF89a'],
    [null, 'image/png', 'application/octet-stream', 'PNG'],
    [null, 'image/png', null, 'PNG'],
    [null, 'image/*', 'image/gif', 'GIF89a'],
    [null, '*/*', 'image/gif', 'GIF89a'],
    [null, 'image/jpg', 'image/jpeg', 'JFIF'],
    [null, 'text/csv', 'text/plain', 'a,b'],
    [null, 'text/xml', 'application/xml', '<a/>'],
    ['other_media_type', 'text/csv', 'application/pdf', '%PDF'],
    [null, 'not a type', 'text/plain', 'sunny'],
  ])('%s: declared %s, answered %s', (reason, declared, type, body) => {
    expect(judge(body, { type, own: declare(declared) }).unrecognised).toBe(reason);
  });

  it('in several documents needs to match one', () => {
    const own = [...declare('text/csv'), ...declare('application/pdf')];
    expect(judge('%PDF', { type: 'application/pdf', own }).unrecognised).toBeNull();
    expect(judge('x', { type: 'image/png', own }).unrecognised).toBe('other_media_type');
  });

  it('of somebody else does not count', () => {
    const [declared = NOTHING] = declare('image/png');
    expect(judge({ a: 1 }, { declared })).toMatchObject({ unrecognised: null, conforming: 'no' });
  });
});

describe('the schema that the provider declares', () => {
  const PRICE = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

  it.each<[boolean, object, unknown]>([
    [true, PRICE, { price: 1 }],
    [true, PRICE, { price: 1, more: 2 }],
    [false, PRICE, { price: '1' }],
    [false, PRICE, { cost: 1 }],
    [false, PRICE, [1]],
    [false, PRICE, 'sunny'],
    [false, { type: 'array' }, { price: 1 }],
    [false, { ...PRICE, additionalProperties: false }, { price: 1, more: 2 }],
    [true, { properties: { price: PRICE.properties.price, format: { type: 'string' } } }, { price: 1, format: 'x' }],
    [false, { properties: { format: { type: 'string' } } }, { format: 1 }],
    [true, { type: 'string' }, 'sunny'],
    // Keywords that are not compared never make the rest stricter.
    [true, { type: 'string', pattern: '^(a+)+$' }, '"b"'],
    [true, { type: 'string', format: 'email' }, '"b"'],
    [true, { oneOf: [{ pattern: 'a' }, { pattern: 'b' }] }, '"a"'],
    [true, { not: { pattern: 'a' }, type: 'string' }, '"b"'],
    [true, { if: { pattern: 'a' }, else: { type: 'number' } }, '"a"'],
    [true, { patternProperties: { '^x-': {} }, additionalProperties: false, type: 'object' }, { 'x-a': 1 }],
    [true, { allOf: [{ properties: { a: {} }, additionalProperties: false }, PRICE] }, { a: 1, price: 1 }],
    [true, { type: 'string', nullable: true }, 'null '],
    [true, { $ref: 'https://a.example/schema.json', type: 'object' }, { a: 1 }],
    [true, { required: ['a', 'b'], properties: { b: { writeOnly: true } } }, { a: 1 }],
    [true, { type: 'number', multipleOf: 0.5 }, '1.5'],
    [false, { type: 'number', multipleOf: 1 }, '1.5'],
    // Keywords with invalid values are ignored.
    [true, { type: 'json', example: { a: 1 } }, { b: 1 }],
    [true, { type: 'object', enum: 5 }, { a: 1 }],
    [false, { type: 'object', enum: 5 }, [1]],
    [true, { properties: { a: 'string' }, required: true }, { a: 1 }],
    [true, { minimum: '5', exclusiveMinimum: true, multipleOf: 0, type: 'number' }, '1'],
    [true, { items: [{ type: 'string' }], type: 'array' }, [1]],
  ])('%s: %j of %j', (fits, schema, body) => {
    const type = typeof body === 'string' && body.startsWith('s') ? 'text/plain' : 'application/json';
    // `null` alone is an empty answer, whatever the schema says.
    const inside = body === 'null ' ? { value: null } : body;
    const wanted = body === 'null ' ? { properties: { value: schema } } : schema;
    expect(judge(inside, { type, own: declare(null, wanted) }).unrecognised).toBe(fits ? null : 'schema_contradicted');
  });

  it('of somebody else only affects conformity', () => {
    const [declared = NOTHING] = declare(null, PRICE);
    expect(judge({ cost: 1 }, { declared })).toMatchObject({ unrecognised: null, conforming: 'no' });
    expect(judge({ price: 1 }, { declared })).toMatchObject({ unrecognised: null, conforming: 'yes' });
  });

  it('in two documents must be contradicted twice', () => {
    const own = [...declare(null, PRICE), ...declare(null, { required: ['cost'] })];
    expect(judge({ cost: 1 }, { own }).unrecognised).toBeNull();
    expect(judge({ fee: 1 }, { own }).unrecognised).toBe('schema_contradicted');
  });

  it('may describe a product that is not JSON', () => {
    const own = declare('image/png', { type: 'object' });
    expect(judge('PNG', { type: 'image/png', own }).unrecognised).toBeNull();
  });
});

describe('the thread that judges', () => {
  const judgeApart = (body: unknown, own: DeclaredProduct[], limits?: { timeMs: number; memoryMb: number }) => {
    const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    return judgeAnswer({ content_type: 'application/json', body: bytes, declared: own[0] ?? NOTHING, own }, limits);
  };

  it('returns the judgement', async () => {
    expect(await judgeApart({ price: 'x' }, declare(null, { properties: { price: { type: 'number' } } }))).toEqual({
      ...{ unrecognised: 'schema_contradicted', conforming: 'no' },
      fields: [{ path: 'price', type: 'string' }],
    });
  });

  it('is ended if a schema takes too long, which does not count against the seller', async () => {
    const body = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `item ${n}` }));
    const own = declare(null, { type: 'array', uniqueItems: true });
    expect(await judgeApart(body, own, { timeMs: 1_000, memoryMb: 64 })).toMatchObject({
      ...{ unrecognised: null, conforming: 'undeclared' },
      fields: [
        { path: '[].n', type: 'number' },
        { path: '[].text', type: 'string' },
      ],
    });
  });

  it('is ended if it needs too much memory, without a judgement', async () => {
    const body = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ n: [n] })));
    expect(await judgeApart(body, [], { timeMs: 60_000, memoryMb: 8 })).toBeNull();
    expect(await judgeApart(body, [])).toMatchObject({ fields: [{ path: '[].n[]', type: 'number' }] });
  });

  it('judges each answer by itself: one after another, several at once, and after one that was late', async () => {
    const slow = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `item ${n}` }));
    const judgeAll = async () => {
      for (const [body, reason] of [
        [{}, 'empty'],
        [{ price: 1 }, null],
        [{ error: 'not found' }, 'error_in_body'],
        [{ price: 'x' }, 'schema_contradicted'],
      ] as const) {
        const own = declare(null, { properties: { price: { type: 'number' } } });
        expect((await judgeApart(body, own))?.unrecognised).toBe(reason);
      }
    };
    await judgeAll();
    await Promise.all([judgeAll(), judgeAll(), judgeAll()]);
    await judgeApart(slow, declare(null, { type: 'array', uniqueItems: true }), { timeMs: 300, memoryMb: 64 });
    await judgeAll();
  });

  it('judges a body that is too large by its beginning', async () => {
    const large = 'x'.repeat(1024 * 1024);
    expect(await judgeApart(`{"a":"${large}"}`, declare('application/json', { type: 'array' }))).toEqual({
      ...{ unrecognised: null, conforming: 'yes', fields: null },
    });
    expect(await judgeApart(`<!doctype html>${large}`, [])).toMatchObject({ unrecognised: 'html_page' });
  });

  it('never throws or hangs, whatever the schema and the body', async () => {
    const keyword = fc.constantFrom(
      ...['type', 'properties', 'items', 'required', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', '$ref', '$id'],
      ...['additionalProperties', 'minimum', 'multipleOf', 'uniqueItems', 'contains', 'nullable', '__proto__'],
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.dictionary(keyword, fc.oneof({ maxDepth: 4 }, fc.jsonValue(), tie('schema')), { maxKeys: 5 }),
    }));
    const property = fc.asyncProperty(schema, fc.jsonValue(), async (output_schema, body) => {
      const own = [{ mime_type: null, output_schema: output_schema as DeclaredProduct['output_schema'] }];
      const said = await judgeApart(JSON.stringify(body), own);
      expect(said).not.toBeNull();
      expect(() => judge(JSON.stringify(body), { own })).not.toThrow();
    });
    await fc.assert(property, { numRuns: 10 });
  });

  it('never throws, whatever the schema: more of them, without a thread', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const part = fc.dictionary(
      fc.constantFrom('type', 'enum', 'items', 'properties', 'required', 'anyOf', 'contains', 'minimum', 'prefixItems'),
      value,
    );
    const whole = fc.dictionary(
      fc.constantFrom('items', 'properties', 'allOf', 'anyOf', 'type'),
      fc.oneof(part, fc.array(part)),
    );
    const property = fc.property(whole, value, fc.string(), (output_schema, body, type) => {
      judge(JSON.stringify(body), {
        type,
        own: [{ mime_type: type, output_schema: output_schema as DeclaredProduct['output_schema'] }],
      });
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe('the fields of an answer', () => {
  it('are names and types', () => {
    const body = {
      result: {
        items: [
          { price: 1, note: null },
          { price: null, note: 'x' },
        ],
        total: 2,
        tags: ['a'],
        none: [],
      },
    };
    expect(listFields(body)).toEqual([
      { path: 'result.items[].price', type: 'number or null' },
      { path: 'result.items[].note', type: 'string or null' },
      { path: 'result.total', type: 'number' },
      { path: 'result.tags[]', type: 'string' },
      { path: 'result.none', type: 'list' },
    ]);
    expect(listFields([[1], ['a']])).toEqual([{ path: '[][]', type: 'string or number' }]);
    expect([listFields(1), listFields({}), listFields([])]).toEqual([
      [{ path: '$', type: 'number' }],
      [{ path: '$', type: 'object' }],
      [{ path: '$', type: 'list' }],
    ]);
  });

  it('are bounded in number, depth and items', () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n.toString(36)}x`, n % 2 ? n : 'x']));
    expect(listFields(wide)).toHaveLength(40);
    expect(listFields({ a: { b: { c: { d: { e: 1 } } } } })).toEqual([{ path: 'a.b.c.d', type: 'object' }]);
    const items = Array.from({ length: 30 }, (_, n) => (n < 20 ? { a: 1 } : { b: 1 }));
    expect(listFields(items)).toEqual([{ path: '[].a', type: 'number' }]);
    expect(JSON.stringify(listFields(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`))).length).toBeLessThan(100);
  });

  it.each([
    '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    'd41d8cd98f00b204e9800998ecf8427e',
    '4111111111111111',
    '17',
    'jo@a.example',
    '2024-01-05',
    '2024',
    'Jan 5, 2024',
    '12:30',
    '10.0.0.1',
    'fe80::1',
    'https://a.example/b',
    'www.a.example',
    'a.example',
    '/home/jo',
    '+49 30 123456',
    'The answer is forty two and a half',
    'x'.repeat(300),
    '',
  ])('hide a name that is data: %s', (name) => {
    expect(listFields({ [name]: 1 })).toEqual([{ path: '*', type: 'number' }]);
  });

  it.each([
    ['price_usd', 'price_usd'],
    ['requestId', 'requestId'],
    ['@type', '@type'],
    ['_id', '_id'],
    ['5. adjusted close', '5_adjusted_close'],
    ['Time Series (Daily)', 'Time_Series_Daily'],
    ['pre\u200Bis\u202Ee', 'pre_is_e'],
    ['<b>x</b>'.replace('/', ''), 'b_x_b'],
    ['sha256', 'sha256'],
    ['preis_größe', 'preis_größe'],
    ['価格', '価格'],
  ])('have cleaned names: %j', (name, shown) => {
    expect(listFields({ [name]: 1 })).toEqual([{ path: shown, type: 'number' }]);
  });

  it('have cut names, and none for a table', () => {
    const [field] = listFields({ ['longname'.repeat(12)]: 1 });
    expect(field?.path).toHaveLength(60);
    const tickers = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`T${String.fromCharCode(65 + (n % 26))}${n}`, { price: n }]),
    );
    expect(listFields(tickers)).toEqual([{ path: '*.price', type: 'number' }]);
  });

  it('is never what it says', () => {
    const value = fc.oneof(
      fc.uuid().map((id) => `value ${id}`),
      fc.integer({ min: 1_000_000 }),
      fc.double({ min: 1.000_01, max: 1.999_99, noNaN: true }),
    );
    const { body } = fc.letrec((tie) => ({
      body: fc.oneof(
        { maxDepth: 5 },
        value,
        fc.array(tie('body')),
        fc.dictionary(fc.oneof(fc.string(), value.map(String)), tie('body')),
      ),
    }));
    const listValues = (of: unknown): string[] =>
      typeof of === 'object' && of !== null ? Object.values(of).flatMap(listValues) : [String(of)];
    const property = fc.property(body, (json) => {
      const { fields } = judge(JSON.stringify(json));
      expect(fields?.length).toBeLessThanOrEqual(40);
      const published = JSON.stringify(fields);
      for (const said of listValues(json)) expect(published).not.toContain(said);
      for (const { path } of fields ?? []) expect(path).toMatch(/^[\p{L}\p{N}_$@*[\].…-]*$/u);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe('the first record of an answer', () => {
  const answer = (status: number, body: string, type = 'application/json') =>
    buildPaymentAnswer(
      {
        ...{ status, headers: new Headers({ 'content-type': type }), body: new TextEncoder().encode(body) },
        ...{ receivedBytes: 0, url: 'http://a.example/', redirects: [], elapsedMs: 1 },
      },
      { at: new Date(0), durationMs: 1 },
    );

  it('leaves open only what has to be judged', () => {
    expect(answer(200, '{}')).toMatchObject({ delivered: null, unrecognised: null, conforming: null });
    expect(answer(204, '')).toMatchObject({ delivered: false, unrecognised: null });
    expect(answer(200, '')).toMatchObject({ delivered: false, unrecognised: null });
    expect(answer(500, '{"a":1}')).toMatchObject({
      delivered: false,
      unrecognised: null,
      answer: { status: 500, size: 7 },
    });
  });

  it.each([
    ['Application/JSON; charset="<b>pay me</b>"', 'application/json'],
    ['<b>pay me</b>', null],
    [`text/${'x'.repeat(300)}`, null],
  ])('keeps only a valid media type: %s', (type, kept) => {
    expect(answer(200, '1', type).answer?.content_type).toBe(kept);
  });
});
