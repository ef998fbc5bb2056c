import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

/** Asks for all paths at once over as many connections as a client may nearly have, in a thread of its own; gives the statuses. */
const { url, paths, localAddress } = workerData as { url: string; paths: readonly string[]; localAddress: string };
const pool = new Pool(url, { connections: 90, localAddress });
const asked = paths.map(async (path) => {
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers: { 'accept-encoding': 'br' } });
  await body.dump();
  return statusCode;
});
parentPort?.postMessage(await Promise.all(asked));
await pool.close();
