import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { rebuild, type Server, startService } from '../bench/world.ts';
import { createAuditedCatalogue } from './catalogue.ts';

/** Makes the catalogue and a release of it in a folder, and serves them from a process of its own, as `npm start` does. */
export async function startAudited(folder: string, now: Date): Promise<Server> {
  const port = await findFreePort();
  const settings = {
    ENV_FILES: 'off',
    // What the service says of itself is asked for at its own address.
    BASE_URL: `http://127.0.0.1:${port}`,
    ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), RELEASES: join(folder, 'dist') },
    ...{
      HOST: '127.0.0.1',
      PORT: String(port),
      RATE_LIMIT: '0',
      LOG_LEVEL: 'silent',
      PROBE: 'off',
      TRUSTED_PROXIES: '',
    },
  };
  await createAuditedCatalogue(settings.CATALOGUE, now);
  const world = { env: { ...process.env, ...settings } };
  await rebuild(world);
  return startService(world, '--no-rebuild');
}

/** Finds a port of loopback that is free now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
