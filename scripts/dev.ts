import './require-node.mjs';

const { endWithFailure, readArguments } = await import('./entry.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { PROJECT_DIR } = await import('../src/site/page-code.ts');

const USAGE = {
  line: 'npm run dev',
  about: `Serves the pages from source with live reload, from the catalogue of the settings, at HOST and PORT. A first
start makes a catalogue from data/listings, as that of npm start does.

  -h, --help    shows this
  -V, --version shows the version

Settings are read from the environment and .env; .env.example lists them.`,
};

const signal = listenForStop(process, () => undefined);

try {
  readArguments(USAGE, {});
  refuseKeys();
  const config = readConfig();
  const { prepareCatalogue } = await import('./first-start.ts');
  const tell = (line: string) => process.stdout.write(`${line}\n`);
  await prepareCatalogue({ config, now: () => new Date(), signal, tell });
  const { host, port } = config;
  const { dev } = await import('astro');
  const server = await dev({ root: PROJECT_DIR, server: { host, port }, vite: { server: { strictPort: true } } });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await server.stop();
  process.exit(0);
} catch (error) {
  endWithFailure(error);
}
