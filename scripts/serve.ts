import './require-node.mjs';

const { readArguments } = await import('./entry.ts');
const { getExitCode } = await import('../src/cli/failure.ts');
const { getFailure } = await import('../src/model/failure.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { openLog, say } = await import('./log.ts');
const { goOnWhereUnread } = await import('./standard-streams.ts');

const { stdout, stderr } = process;
goOnWhereUnread(process);

const USAGE = {
  line: 'npm start -- [--no-rebuild]',
  about: `Serves the catalogue, and rebuilds its pages after each change. A first start makes what is missing.

  --no-rebuild  leaves rebuilding to the operator
  -h, --help    shows this
  -V, --version shows the version

Settings are read from the environment and .env; .env.example lists them. On a terminal it writes sentences, elsewhere
lines of JSON: what happens on standard output, the log on standard error.`,
};

/** Longest time that stopping may take before the process ends anyway, in milliseconds. */
const STOP_MS = 4500;

const tell = (line: string, fields?: Record<string, unknown>) => say(stdout, line, fields);
const signal = listenForStop(process, () =>
  tell('Stopping when the requests in flight are answered. Ctrl-C again stops at once.'),
);
const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
signal.addEventListener('abort', () => setTimeout(() => process.exit(1), STOP_MS).unref());

/** Runs `npm start [-- --no-rebuild]`: makes what a first start lacks, then serves until it is stopped. */
async function run(): Promise<void> {
  const { values } = readArguments(USAGE, { 'no-rebuild': { type: 'boolean' } });
  const rebuilding = !values['no-rebuild'];
  refuseKeys();
  const config = readConfig();
  // Loaded late, because these take long and a wrong command line or setting is refused before.
  const { openListener } = await import('../src/http/listening.ts');
  const listener = await openListener(config);
  const { prepareCatalogue, preparePages } = await import('./first-start.ts');
  const { startServer } = await import('../src/http/server.ts');
  const { PATHS, buildUrl } = await import('../src/views/links.ts');
  const firstStart = { config, now: () => new Date(), signal, tell };
  await prepareCatalogue(firstStart);
  if (rebuilding) await preparePages(firstStart);
  const logger = openLog(stderr, config.logLevel);
  const server = await startServer({ config, logger, listener, rebuilding, probing: config.probe });
  const { baseUrl } = config;
  const places = {
    pages: buildUrl(baseUrl, PATHS.home),
    OpenAPI: buildUrl(baseUrl, PATHS.openapi),
    MCP: buildUrl(baseUrl, PATHS.mcp),
    'llms.txt': buildUrl(baseUrl, PATHS.guide),
  };
  const isTerminal = stdout.isTTY === true;
  tell(`${config.serviceTitle} listens on ${server.url}. Ctrl-C stops it.`, places);
  if (isTerminal) for (const [name, url] of Object.entries(places)) tell(`  ${name.padEnd(10)} ${url}`);
  await stopped;
  await server.close();
}

try {
  await run();
  process.exit(0);
} catch (error) {
  if (signal.aborted) process.exit(0);
  const failure = getFailure(error);
  const { message, hint, reason } = failure;
  if (stderr.isTTY) stderr.write(`error: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
  else say(stderr, message, { hint, reason }, 'fatal');
  process.exit(getExitCode(failure));
}
