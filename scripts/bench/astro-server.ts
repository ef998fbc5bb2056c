import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { openReading } from '../../src/snapshot/reading.ts';
import type { Site } from '../../src/views/site.ts';

/** What the server needs: the catalogue, how the service names itself, and the module of the compiled pages. */
export interface AstroServerOptions {
  readonly catalogueFile: string;
  readonly site: Site;
  readonly entry: string;
}

/**
 * What our live routes cost through Astro's request pipeline: the same endpoints, mounted by `src/pages`, served by the
 * node adapter's handler alone. It runs as a child process and tells the port it listens on.
 */
process.once('message', async (message) => {
  const { catalogueFile, site, entry } = message as AstroServerOptions;
  const { handler } = await import(pathToFileURL(entry).href);
  const reading = openReading(catalogueFile, site);
  const server = createServer((request, response) =>
    handler(request, response, () => response.writeHead(404).end(), { reading }),
  );
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
});
