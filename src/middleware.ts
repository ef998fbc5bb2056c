import { defineMiddleware } from 'astro:middleware';
import { readConfig } from './config.ts';
import { startFollowing } from './published/live-file.ts';
import { buildReading, type Reading } from './published/reading.ts';

const HTML = 'text/html; charset=utf-8';
let opened: Promise<Reading> | undefined;
const appOf = new WeakMap<Reading, Promise<App.Locals['app']>>();

/**
 * Gives pages and endpoints what they are made from. The server and a rebuild pass `locals.reading`; under `astro dev` and
 * under the adapter alone it is opened here, once, from the settings.
 */
export const onRequest = defineMiddleware(async ({ locals, request }, next) => {
  if (!locals.reading) {
    opened ??= openFromSettings();
    locals.reading = await opened;
  }
  const { reading } = locals;
  locals.app ??= { fetch: async (request) => (await getApp(reading)).fetch(request) };
  // Astro takes /api/x.html for /api/x; every page has one address.
  const hasOtherAddress = new URL(request.url).pathname.endsWith('.html');
  const response = await (hasOtherAddress ? next('/404') : next());
  if (response.headers.get('Content-Type') === 'text/html') response.headers.set('Content-Type', HTML);
  return response;
});

async function openFromSettings(): Promise<Reading> {
  const config = readConfig();
  // Under `astro dev` the code is another from start to start.
  const following = await startFollowing(config, `started ${new Date().toISOString()}`, console.error);
  const { refuseUnservable, noteFailure } = following;
  return buildReading(following.published, config, { refresh: refuseUnservable, onFailure: noteFailure });
}

/** Loaded when first asked for: pages are rendered without it. */
function getApp(reading: Reading): Promise<App.Locals['app']> {
  const app = appOf.get(reading) ?? import('./http/app.ts').then(({ createApp }) => createApp({ reading }));
  appOf.set(reading, app);
  return app;
}
