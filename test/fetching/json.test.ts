import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchJson, parseJsonBody } from '../../src/fetching/json.ts';
import { type Outside, openOutside } from './outside.ts';

let outside: Outside;

beforeAll(async () => {
  outside = await openOutside((request, _raw, response) => {
    if (request.url === '/missing') response.statusCode = 404;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(request.url === '/html' ? '<!doctype html><p>secret' : `{"accept":"${request.headers.accept}"}`);
  });
});
afterAll(() => outside.close());

function parse(body: string | Uint8Array, contentType: string | null = null): unknown {
  return parseJsonBody(Buffer.from(body), contentType, 'The file x holds');
}

describe('a JSON answer', () => {
  it('is requested and read', async () => {
    expect(await fetchJson(outside.openClient(), outside.url())).toEqual({ accept: 'application/json' });
    const other = await fetchJson(outside.openClient(), outside.url(), {
      headers: { Accept: 'application/feed+json' },
    });
    expect(other).toEqual({ accept: 'application/feed+json' });
  });

  it('that is something else is refused without quoting it', async () => {
    await expect(fetchJson(outside.openClient(), outside.url('/html'))).rejects.toMatchObject({
      reason: 'bad_json',
      message: 'The host provider.example sent HTML where JSON was expected.',
    });
    await expect(fetchJson(outside.openClient(), outside.url('/missing'))).rejects.toMatchObject({
      reason: 'bad_status',
      details: { status: 404 },
    });
  });
});

describe('JSON bytes', () => {
  const json = '{"a":"ä"}';
  const utf16 = Buffer.from(`\ufeff${json}`, 'utf16le');

  it.each([
    ['UTF-8', Buffer.from(json), null],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${json}`), 'application/json'],
    ['UTF-8 declared to be Latin-1', Buffer.from(json), 'application/json; charset=iso-8859-1'],
    ['Latin-1 declared', Buffer.from(json, 'latin1'), 'application/json; charset="ISO-8859-1"'],
    ['UTF-16 with a byte order mark', utf16, null],
    ['UTF-16, big end first', Buffer.from(utf16).swap16(), 'application/json; charset=utf-8'],
  ])('are read as %s', (_what, body, contentType) => {
    expect(parse(body, contentType)).toEqual({ a: 'ä' });
  });

  it.each([
    ['nothing', '', 'nothing where JSON was expected'],
    ['white space', ' \n', 'nothing where JSON was expected'],
    ['HTML', ' <html>secret', 'HTML where JSON was expected'],
    ['broken text', '{"a":"secret"', 'text where JSON was expected'],
    ['bytes in no charset', Buffer.from([0x22, 0xff, 0x22]), 'bytes that are not text'],
    ['arrays nested too deeply', `${'['.repeat(201)}${']'.repeat(201)}`, 'JSON nested too deeply to be read'],
    ['endless nesting', '{"a":'.repeat(1_000_000), 'JSON nested too deeply to be read'],
  ])('that hold %s are refused in one sentence', (_what, body, ending) => {
    expect(() => parse(body)).toThrow(
      expect.objectContaining({ reason: 'bad_json', message: `The file x holds ${ending}.` }),
    );
  });

  it('in an unknown charset are refused only if they are not UTF-8', () => {
    expect(parse('[1]', 'text/json; charset=klingon')).toEqual([1]);
    expect(() => parse(Buffer.from([0x22, 0xff, 0x22]), 'text/json; charset=klingon')).toThrow(/not text/);
  });

  it('may have brackets in strings and nest to the limit', () => {
    const text = JSON.stringify({ a: '['.repeat(500), b: '\\"{'.repeat(500) });
    expect(parse(text)).toEqual(JSON.parse(text));
    expect(parse(`${'['.repeat(200)}${']'.repeat(200)}`)).toBeInstanceOf(Array);
  });
});
