import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { onTestFinished } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { createApp } from '../../src/http/app.ts';
import { openTestReading } from '../reading.ts';
import { NOW } from '../records.ts';

/** Serves a catalogue's live routes over HTTP on a free port of loopback until the test that asked for it is over. */
export async function serveOnLoopback(catalogue: Catalogue): Promise<{ url: string }> {
  const reading = await openTestReading(catalogue, { now: () => new Date(NOW) });
  const app = createApp({ reading });
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    reading.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
