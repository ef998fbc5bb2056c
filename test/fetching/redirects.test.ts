import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Listening, type Outside, openCounter, openOutside, PUBLIC_ADDRESS } from './outside.ts';

let outside: Outside;
let counter: Listening;

beforeAll(async () => {
  counter = await openCounter();
});
afterAll(() => counter.close());

beforeEach(async () => {
  outside = await openOutside((request, _raw, response) => {
    const url = new URL(request.url, 'https://provider.example');
    const chain = /^\/chain\/(\d+)$/.exec(url.pathname);
    if (chain && Number(chain[1]) > 0) response.writeHead(302, { location: `/chain/${Number(chain[1]) - 1}` });
    else if (url.searchParams.has('to')) {
      response.writeHead(Number(url.searchParams.get('status') ?? 302), { location: url.searchParams.get('to') ?? '' });
    }
    response.end('answer');
  });
});
afterEach(() => outside.close());

function redirectTo(location: string, status = 302): string {
  return outside.url(`/?status=${status}&to=${encodeURIComponent(location)}`);
}

describe('a redirect', () => {
  it('is followed three times and not four', async () => {
    const client = outside.openClient();
    const response = await client.fetch(outside.url('/chain/3'));
    expect(response).toMatchObject({ status: 200, url: outside.url('/chain/0') });
    expect(response.redirects).toEqual([3, 2, 1].map((left) => ({ status: 302, url: outside.url(`/chain/${left}`) })));
    expect(Buffer.from(response.body).toString()).toBe('answer');
    await expect(client.fetch(outside.url('/chain/4'))).rejects.toMatchObject({
      reason: 'too_many_redirects',
      details: { redirects: 3 },
    });
    await expect(client.fetch(outside.url('/chain/1'), { limits: { redirects: 0 } })).rejects.toMatchObject({
      reason: 'too_many_redirects',
    });
  });

  it('in a circle ends', async () => {
    const client = outside.openClient();
    const circle = outside.url('/?to=');
    await expect(client.fetch(circle)).rejects.toMatchObject({ reason: 'too_many_redirects' });
    expect(outside.received).toHaveLength(4);
  });

  it.each([
    ['https://127.0.0.1:{port}/', 'blocked_address'],
    ['https://2130706433:{port}/', 'blocked_address'],
    ['https://0x7f.1:{port}/', 'blocked_address'],
    ['https://[::1]:{port}/', 'blocked_address'],
    ['https://[::ffff:127.0.0.1]:{port}/', 'blocked_address'],
    ['//127.0.0.1:{port}/', 'blocked_address'],
    ['\\\\127.0.0.1:{port}/', 'blocked_address'],
    ['https:\\\\127.0.0.1:{port}', 'blocked_address'],
    ['https://169.254.169.254/latest/meta-data/', 'blocked_address'],
    ['https://localhost:{port}/', 'blocked_host'],
    ['https://metadata.google.internal/', 'blocked_host'],
    ['https://inside.example:{port}/', 'blocked_address'],
    ['https://half.example:{port}/', 'blocked_address'],
    ['http://127.0.0.1:{port}/', 'not_https'],
    ['http://provider.example:{port}/', 'not_https'],
    ['https://user:secret@provider.example:{port}/', 'userinfo'],
    ['https://provider.example:25/', 'blocked_port'],
    ['file:///etc/passwd', 'bad_url'],
    ['ftp://127.0.0.1:{port}/', 'bad_url'],
    ['https://256.256.256.256/', 'bad_url'],
    ['https://', 'bad_url'],
  ])('to a private address is refused without a connection: %s', async (template, reason) => {
    const location = template.replace('{port}', String(counter.port));
    const names: Record<string, string[]> = {
      'inside.example': ['127.0.0.1'],
      'half.example': [PUBLIC_ADDRESS, '10.0.0.1'],
    };
    const client = outside.openClient({ network: { resolve: async (name) => names[name] ?? [PUBLIC_ADDRESS] } });
    const before = counter.getConnectionCount();
    for (const status of [301, 302, 303, 307, 308]) {
      await expect(client.fetch(redirectTo(location, status))).rejects.toMatchObject({ reason });
    }
    expect(counter.getConnectionCount()).toBe(before);
    expect(new Set(outside.dialled)).toEqual(new Set([PUBLIC_ADDRESS]));
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [301, 'PUT', 'PUT', '{}'],
    [302, 'HEAD', 'HEAD', ''],
    [303, 'HEAD', 'HEAD', ''],
    [307, 'POST', 'POST', '{}'],
    [308, 'POST', 'POST', '{}'],
  ])('of status %d turns %s into %s', async (status, method, then, body) => {
    const client = outside.openClient();
    const headers = { 'content-type': 'application/json' };
    const sent = method === 'HEAD' ? {} : { body: '{}' };
    expect((await client.fetch(redirectTo('/next', status), { method, headers, ...sent })).redirects).toHaveLength(1);
    expect(outside.received[1]).toMatchObject({ method: then, url: '/next', body });
    expect(outside.received[1]?.headers['content-type']).toBe(body ? 'application/json' : undefined);
  });

  it.each([200, 300, 304, 305, 402])('does not happen with status %d, or without a location', async (status) => {
    const client = outside.openClient();
    expect(await client.fetch(redirectTo('https://127.0.0.1/', status))).toMatchObject({ status, redirects: [] });
  });

  it('is returned if the caller wants that', async () => {
    const client = outside.openClient();
    const response = await client.fetch(redirectTo('https://127.0.0.1/'), { redirect: 'manual' });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('https://127.0.0.1/');
    expect(outside.received).toHaveLength(1);
  });

  it.each(['https://other.provider.example:{port}/next', '/next'])(
    'to %s sends on no credentials',
    async (template) => {
      const client = outside.openClient();
      const headers = {
        Authorization: 'Bearer s',
        Cookie: 's=1',
        'X-Api-Key': 's',
        Accept: 'text/plain',
        Origin: 'https://a.example',
      };
      await client.fetch(redirectTo(template.replace('{port}', String(outside.port)), 307), {
        method: 'POST',
        headers,
        body: 'x',
      });
      expect(outside.received[0]?.headers).toMatchObject({
        authorization: 'Bearer s',
        cookie: 's=1',
        'x-api-key': 's',
      });
      const handedOn = Object.keys(outside.received[1]?.headers ?? {}).sort();
      expect(handedOn).toEqual(['accept', 'accept-encoding', 'connection', 'content-length', 'host', 'user-agent']);
    },
  );

  it.each(['X-PAYMENT', 'PAYMENT-SIGNATURE', 'payment-signature'])(
    'of a request with %s is not followed',
    async (name) => {
      const client = outside.openClient();
      for (const location of [`https://other.provider.example:${outside.port}/next`, '/next']) {
        for (const status of [301, 302, 303, 307, 308]) {
          const response = await client.fetch(redirectTo(location, status), {
            method: 'POST',
            headers: { [name]: 'signed' },
            redirect: 'follow',
          });
          expect(response).toMatchObject({ status, redirects: [] });
        }
      }
      expect(outside.received).toHaveLength(10);
      expect(outside.received.every((request) => request.url.includes('?status='))).toBe(true);
      // Each payment had its own connection.
      expect(outside.getConnectionCount()).toBe(10);
    },
  );
});
