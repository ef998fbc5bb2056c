import './require-node.mjs';

const { endWithFailure, readArguments } = await import('./entry.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { PROJECT_DIR } = await import('../src/site/page-code.ts');

const USAGE = {
  line: 'npm run dev',
  about: `Serves the pages from source with live reload, from the catalogue of the settings, at HOST and PORT.

  -h, --help    shows this
  -V, --version shows the version

Settings are read from the environment and .env; .env.example lists them.`,
};

const signal = listenForStop(process, () => undefined);

try {
  readArguments(USAGE, {});
  refuseKeys();
  const { host, port } = readConfig();
  const { dev } = await import('astro');
  const server = await dev({ root: PROJECT_DIR, server: { host, port }, vite: { server: { strictPort: true } } });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await server.stop();
  process.exit(0);
} catch (error) {
  endWithFailure(error);
}
