import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeAll, onTestFinished } from 'vitest';
import { getRevision } from '../../src/catalogue/transaction.ts';
import { buildLogFields } from '../../src/http/request.ts';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { makeFolder } from '../builders.ts';
import { SCRATCH } from '../scratch.ts';
import { makeWritten, rebuildAgain } from '../site/rebuilding.ts';
import { makeSiteFixture, type SiteFixture } from '../site/site-fixture.ts';

/** A server on a fixture of its own, with what it logs. */
export interface TestServer extends RunningServer {
  readonly fixture: SiteFixture;
  readonly logged: Record<string, unknown>[];
  /** Waits until what was written to the catalogue is served. */
  catchUp(): Promise<void>;
}

interface ServerOptions {
  rebuilding?: boolean;
  level?: string;
  now?: () => number;
}

/** Starts a server, closed after the test; `written` writes the pages first. */
export async function serveSiteFixture({
  fixture: given,
  written = true,
  ...options
}: ServerOptions & { fixture?: SiteFixture | undefined; written?: boolean } = {}): Promise<TestServer> {
  const fixture = given ?? (written ? await makeWritten(makeFolder()) : await makeSiteFixture(makeFolder()));
  if (given && written) await rebuildAgain({ config: fixture.config });
  const server = await startOn(fixture, options);
  onTestFinished(() => server.close());
  return server;
}

/**
 * Serves a fixture and its pages to all tests of a file, which leave to each other what they read. `prepare` writes what is newer
 * than the pages. Returns what gives the server.
 */
export function shareServer(prepare?: (server: TestServer) => Promise<void>): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    const folder = mkdtempSync(join(SCRATCH, 'shared-'));
    const fixture = await makeWritten(folder);
    server = await startOn(fixture, {});
    await prepare?.(server);
    return async () => {
      await server?.close();
      await fixture.catalogue.close();
      rmSync(folder, { recursive: true, force: true });
    };
  });
  return () => {
    if (!server) throw new Error('the server is started before the first test, not before');
    return server;
  };
}

/** The compiled pages, which are looked for once: the code stays as it is while tests run. */
let compiled: Promise<unknown> | undefined;

async function startOn(
  fixture: SiteFixture,
  { rebuilding = false, level = 'info', now = performance.now.bind(performance) }: ServerOptions,
): Promise<TestServer> {
  // Any page can be rendered on demand, also before another test wrote any.
  compiled ??= openPageCode({ onEvent: () => undefined });
  await compiled;
  const logged: Record<string, unknown>[] = [];
  const logger = pino({ level, mixin: buildLogFields }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const server = await startServer({ config: fixture.config, logger, rebuilding, now });
  const readRevision = async () => JSON.parse((await ask(server, '/readyz')).text).catalogue?.revision;
  const catchUp = async () => {
    while ((await readRevision()) !== (await getRevision(fixture.catalogue))) await sleep(5);
  };
  return { ...server, fixture, logged, catchUp };
}

/** An answer as it came over the wire, nothing decoded. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Asks for a path exactly as written, over a connection of its own. */
export function ask(
  { url }: Pick<RunningServer, 'url'>,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const body = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: body.toString('utf8') });
      });
    });
    request.once('error', reject);
    request.end();
  });
}
