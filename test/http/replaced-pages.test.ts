import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { ask, serveSiteFixture } from './running.ts';

/** Replaces a page and its compressed form by longer and shorter ones, as fast as it can, and says how often. */
const REPLACING = `
const { renameSync, writeFileSync } = require('node:fs');
const { gzipSync } = require('node:zlib');
const { parentPort, workerData } = require('node:worker_threads');
const pages = [1, 400].map((times) => Buffer.from('<html>' + 'a paragraph '.repeat(1000 * times) + '</html>'));
const packed = pages.map((page) => gzipSync(page));
parentPort.once('message', () => process.exit());
let replaced = 0;
const replace = () => {
  for (let at = 0; at < 20; at += 1, replaced += 1) {
    for (const [file, bytes] of [[workerData + '.gz', packed[at % 2]], [workerData, pages[at % 2]]]) {
      writeFileSync(file + '.new', bytes);
      renameSync(file + '.new', file);
    }
  }
  parentPort.postMessage(replaced);
  setImmediate(replace);
};
replace();
`;

it('sends whole pages while they are replaced in a tight loop', async () => {
  const server = await serveSiteFixture();
  const replacing = new Worker(REPLACING, {
    eval: true,
    workerData: join(server.fixture.config.siteDir, 'api/api-3.html'),
  });
  onTestFinished(async () => void (await replacing.terminate()));
  let replaced = 0;
  replacing.on('message', (count: number) => {
    replaced = count;
  });
  while (replaced === 0) await new Promise((resolve) => replacing.once('message', resolve));
  const headers = [{}, { 'Accept-Encoding': 'gzip' }];
  const sizes = new Set<number>();
  // Goes on until both lengths of both forms came, so that what was sent was being replaced.
  for (let round = 0; round < 15 || sizes.size < 4 || replaced <= 50; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => ask(server, '/api/api-3', { headers: headers[at % 2] ?? {} })),
    );
    for (const { status, headers, body, text } of answers) {
      expect([status, Number(headers['content-length'])]).toEqual([200, body.length]);
      if (headers['content-encoding'] === undefined) expect(text.endsWith('</html>')).toBe(true);
      sizes.add(body.length);
    }
  }
  expect(sizes.size).toBe(4);
});
