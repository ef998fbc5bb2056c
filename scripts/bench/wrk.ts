import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from './peers.ts';
import type { Asked, Counted } from './rounds.ts';

const run = promisify(execFile);

/** Between two requests in the file that wrk reads them from. */
const SEPARATOR = '\u0001';

/** What wrk does with it: sends requests ready to go in turn, and says as JSON what came of them. */
const SCRIPT = `
local requests, at = {}, 0
function init(args)
  local file = io.open(args[1], 'rb')
  for text in file:read('*a'):gmatch('[^\\1]+') do requests[#requests + 1] = text end
  file:close()
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary)
  local e = summary.errors
  local failures = e.connect + e.read + e.write + e.timeout + e.status
  io.write(string.format('\\n{"requests":%d,"seconds":%f,"failures":%d}\\n', summary.requests, summary.duration / 1e6, failures))
end
`;

/** Loads a server with wrk, by one thread. Answers of status 400 and above are failures. */
export async function runWrk(
  { command, env }: Peer,
  options: { url: string; asked: readonly Asked[]; connections: number; seconds: number },
): Promise<Counted> {
  const { url, asked, connections, seconds } = options;
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'));
  try {
    const [script, requests] = [join(folder, 'requests.lua'), join(folder, 'requests')];
    writeFileSync(script, SCRIPT);
    writeFileSync(requests, asked.map((each) => buildRequest(new URL(url).host, each)).join(SEPARATOR));
    const args = ['-t1', `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`, '--timeout', '30s'];
    const { stdout } = await run(command, [...args, '-s', script, url, '--', requests], { env });
    const counted: Counted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    return counted;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildRequest(host: string, { path, method = 'GET', headers, body }: Asked): string {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
