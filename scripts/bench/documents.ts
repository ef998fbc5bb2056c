import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { BareAnswer } from './bare-server.ts';
import { runRebuild } from './rebuilds.ts';
import { type Contestant, measureRounds } from './rounds.ts';
import { createSyntheticCatalogue } from './synthetic.ts';

/** One line of the result: an answer at a catalogue size, ours beside the bare server sending the same bytes. */
export interface DocumentResult {
  listings: number;
  path: string;
  encoding: string;
  bytes: number;
  ours_per_second: number;
  bare_per_second: number;
  ratio: number;
}

const PATHS = ['/openapi.json', '/agent/list'];
const ENCODINGS = ['identity', 'gzip'] as const;

/**
 * Measures the live documents against a bare node:http server that sends the very bytes they answered with, at one
 * catalogue size. Both run as processes of their own; rounds alternate. `folder` takes the catalogue and release.
 */
export async function measureDocuments(folder: string, listings: number): Promise<DocumentResult[]> {
  const file = join(folder, `documents-${listings}.sqlite`);
  createSyntheticCatalogue(file, listings).close();
  const port = await findFreePort();
  const settings = {
    ...process.env,
    CATALOGUE: file,
    RELEASES: join(folder, `releases-${listings}`),
    PORT: String(port),
    LOG_LEVEL: 'silent',
  };
  await runRebuild(settings, []);
  const ours = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['scripts/serve.ts', '--no-rebuild'], {
    env: { ...settings, RATE_LIMIT: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await waitUntilReady(`${ours}/readyz`, server);
    const answers: Record<string, BareAnswer> = {};
    for (const path of PATHS) {
      for (const encoding of ENCODINGS)
        answers[getAnswerKey(path, encoding)] = await readAnswer(`${ours}${path}`, encoding);
    }
    const bare = fork(join(import.meta.dirname, 'bare-server.ts'));
    bare.send(answers);
    const [barePort] = (await once(bare, 'message')) as [number];
    try {
      return await measureAll({ ours, bare: `http://127.0.0.1:${barePort}`, answers, listings });
    } finally {
      bare.disconnect();
    }
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

async function measureAll(options: {
  ours: string;
  bare: string;
  answers: Record<string, BareAnswer>;
  listings: number;
}): Promise<DocumentResult[]> {
  const results: DocumentResult[] = [];
  for (const path of PATHS) {
    for (const encoding of ENCODINGS) {
      const contestants: Contestant[] = [
        { name: 'bare', url: `${options.bare}${path}` },
        { name: 'ours', url: `${options.ours}${path}` },
      ];
      const [bare, ours] = await measureRounds(contestants, {
        headers: encoding === 'gzip' ? { 'accept-encoding': 'gzip' } : {},
        connections: 8,
        rounds: 5,
        secondsEach: 2,
      });
      if (!bare || !ours) throw new Error('both contestants are measured');
      results.push({
        listings: options.listings,
        path,
        encoding,
        bytes: Buffer.from(options.answers[getAnswerKey(path, encoding)]?.body ?? '', 'base64').length,
        ours_per_second: Math.round(ours.perSecond),
        bare_per_second: Math.round(bare.perSecond),
        ratio: Number((ours.perSecond / bare.perSecond).toFixed(2)),
      });
    }
  }
  return results;
}

/** The key under which the bare server finds an answer: the path, and ` gzip` where compression is accepted. */
function getAnswerKey(path: string, encoding: (typeof ENCODINGS)[number]): string {
  return encoding === 'gzip' ? `${path} gzip` : path;
}

/** Reads an answer with its bytes as they travel, compressed or not. */
async function readAnswer(url: string, encoding: string): Promise<BareAnswer> {
  const headers = encoding === 'gzip' ? { 'accept-encoding': 'gzip' } : {};
  const sent = request(url, { headers }).end();
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const kept = ['content-type', 'content-length', 'content-encoding', 'etag', 'vary', 'cache-control'];
  return {
    headers: Object.fromEntries(
      kept.flatMap((name) => (response.headers[name] ? [[name, response.headers[name]]] : [])),
    ),
    body: Buffer.concat(chunks).toString('base64'),
  };
}

/** Waits until a server answers 200; throws when it ends first or takes longer than half a minute. */
async function waitUntilReady(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode} before it was ready`);
    const status = await fetch(url).then(
      ({ status: code }) => code,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} did not answer 200 in time`);
}

/** Finds a port that is free now. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
