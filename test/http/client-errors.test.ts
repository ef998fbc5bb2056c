import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { problem } from '../../src/views/problem.ts';
import { shareServer } from './running.ts';

const getServer = shareServer();

/** Sends texts as they are, each after the answer to the one before, and gives all that comes until the connection ends. */
async function send(url: string, ...texts: string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  const closed = once(socket, 'close');
  for (const text of texts) {
    socket.write(text);
    await Promise.race([closed, once(socket, 'data')]);
  }
  await closed;
  return answer;
}

/** Takes the last answer on a connection apart. */
function parseLast(answer: string) {
  const [head = '', body = ''] = (answer.split(/(?=HTTP\/1\.1 \d{3} )/).at(-1) ?? '').split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: problem.parse(JSON.parse(body)) };
}

describe('a request that cannot be read', () => {
  it.each([
    ['letters that are not ASCII', 'GET /agent/list?q=été HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_address'],
    ['a space in the address', 'GET /agent/list?q=a b HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['too much', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ])('is told what to do: %s', async (_name, text, status, code) => {
    const { url } = getServer();
    const answer = parseLast(await send(url, text));
    expect([answer.status, answer.body.status, answer.body.code]).toEqual([status, status, code]);
    expect(answer.body.hint).toMatch(/\w+/);
    expect(answer.head).toContain('Content-Type: application/problem+json');
    expect(answer.head).toContain('Access-Control-Allow-Origin: *');
    expect(answer.head).toContain('X-Content-Type-Options: nosniff');
  });

  it('ends its connection alone, and what was answered on it before stays whole', async () => {
    const { url } = getServer();
    const good = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await send(url, good, 'GET /é HTTP/1.1\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain('{"alive":true}HTTP/1.1 400');
    expect(parseLast(answer).body.code).toBe('malformed_address');
  });
});

it.each(['/', '/agent/list', '/mcp', '/healthz', '/api/none', '/nowhere'])(
  'a request with two Host headers is refused, since each proxy may believe another: %s',
  async (path) => {
    const { url } = getServer();
    for (const [first, second] of [
      ['x', 'y'],
      ['x', 'x'],
    ]) {
      const text = `GET ${path} HTTP/1.1\r\nHost: ${first}\r\nhOsT: ${second}\r\nConnection: close\r\n\r\n`;
      const answer = parseLast(await send(url, text));
      expect([answer.status, answer.body.code]).toEqual([400, 'malformed_request']);
    }
  },
);
