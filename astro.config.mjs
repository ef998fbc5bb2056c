import node from '@astrojs/node';
import { defineConfig, passthroughImageService } from 'astro/config';
import { ENDPOINTS } from './src/http/endpoints/index.ts';
import { LIVE_FOLDER, listPaths, PATHS } from './src/views/links.ts';

// Building the pages calls nobody.
process.env.ASTRO_TELEMETRY_DISABLED ??= '1';

/** Mounts the app at the paths of its endpoints, for `astro dev` and the adapter. The page of the search does so itself. */
const endpoints = {
  name: 'endpoints',
  hooks: {
    'astro:config:setup': ({ injectRoute }) => {
      const mounted = ENDPOINTS.filter(({ path, mount }) => mount && path !== PATHS.search);
      const patterns = mounted
        .flatMap(({ path }) => listPaths(path))
        .map((path) => {
          const [folder] = LIVE_FOLDER.exec(path) ?? [];
          return folder === undefined ? path.replace(/\{(\w+)\}/, '[$1]') : `${folder}/[...path]`;
        });
      for (const pattern of new Set(patterns))
        injectRoute({ pattern, entrypoint: new URL('src/http/astro-route.ts', import.meta.url), prerender: false });
    },
  },
};

/**
 * Pages are compiled once per code version and rendered with what `Astro.locals.reading` holds, so nothing here depends on
 * settings or data. Whoever builds gives the folder (`astro build --outDir …`).
 */
export default defineConfig({
  output: 'server',
  integrations: [endpoints],
  adapter: node({ mode: 'middleware', experimentalDisableStreaming: true }),
  trailingSlash: 'never',
  build: { format: 'file', inlineStylesheets: 'never' },
  // No sessions, no image service (sharp is not installed everywhere), no toolbar in the pages of `astro dev`.
  session: false,
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  // Highlighting writes inline styles, which the content security policy forbids.
  markdown: { syntaxHighlight: false },
  // No cookie and no login exists, so there is nothing that another site's form could borrow.
  security: { checkOrigin: false },
  vite: {
    // Everything is a file of its own: a content security policy without inline scripts, styles or data: addresses.
    build: { assetsInlineLimit: 0 },
    // Scripts of pages are asked for by address, as Vite has workers, and loaded as modules.
    worker: { format: 'es' },
    ssr: { external: ['better-sqlite3'] },
  },
});
