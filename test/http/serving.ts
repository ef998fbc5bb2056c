import type { Catalogue } from '../../src/catalogue/database.ts';
import { createApp } from '../../src/http/app.ts';
import type { Site } from '../../src/views/site.ts';
import { openTestReading } from '../reading.ts';
import { SITE } from '../site.ts';

export { SITE } from '../site.ts';

/** Serves a catalogue's live routes in-process; `get` asks for a path and gives the response. */
export async function serveLive(
  catalogue: Pick<Catalogue, 'address'>,
  now: () => Date = () => new Date('2026-11-20T12:00:00.000Z'),
  site: Site = SITE,
) {
  const reading = await openTestReading(catalogue, { site, now });
  const app = createApp({ reading });
  return {
    reading,
    get: async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      app.fetch(new Request(`${SITE.baseUrl}${path}`, { headers })),
    fetch: async (path: string, init: RequestInit): Promise<Response> =>
      app.fetch(new Request(`${SITE.baseUrl}${path}`, init)),
  };
}
