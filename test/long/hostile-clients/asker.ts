import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

/** A request: of a body, a call over MCP. */
export interface Asked {
  readonly path: string;
  readonly body?: string;
}

/** Asks all at once over as many connections as a client may nearly have, in a thread of its own; gives the statuses. */
const { url, requests, localAddress } = workerData as { url: string; requests: readonly Asked[]; localAddress: string };
const pool = new Pool(url, { connections: 90, localAddress });
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const asked = requests.map(async ({ path, body: sent }) => {
  const { statusCode, body } = await pool.request(
    sent === undefined
      ? { path, method: 'GET', headers: { 'accept-encoding': 'br' } }
      : { path, method: 'POST', headers: MCP, body: sent },
  );
  await body.dump();
  return statusCode;
});
parentPort?.postMessage(await Promise.all(asked));
await pool.close();
