import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { rebuild, type Server, startService } from '../bench/world.ts';
import { createAuditedCatalogue } from './catalogue.ts';

/** Makes the catalogue and its pages in a folder, and starts a process that serves them as `npm start` does. */
export async function startAudited(folder: string, now: Date): Promise<Server> {
  const port = await findFreePort();
  const settings = {
    ENV_FILES: 'off',
    // Pages name this address, and the audit follows it.
    BASE_URL: `http://127.0.0.1:${port}`,
    CATALOGUE: join(folder, 'catalogue.sqlite'),
    SITE: join(folder, 'site'),
    HOST: '127.0.0.1',
    PORT: String(port),
    RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    PROBE: 'off',
    TRUSTED_PROXIES: '',
  };
  await createAuditedCatalogue(settings.CATALOGUE, now);
  const world = { env: { ...process.env, ...settings } };
  await rebuild(world);
  return startService(world, '--no-rebuild');
}

/** Finds a port that is free on loopback. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
