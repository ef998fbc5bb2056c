import './require-node.mjs';

const { parseArgs } = await import('node:util');
const { default: pino } = await import('pino');
const { buildUsageFailure, getExitCode, getFailure } = await import('../src/commands/failure.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { getErrorMessage } = await import('../src/errors.ts');
const { startServer } = await import('../src/server/server.ts');
const { PATHS, buildUrl } = await import('../src/views/links.ts');
const { prepareCatalogue, prepareRelease } = await import('./first-start.ts');
const { goOnWhereUnread } = await import('./standard-streams.ts');

const { stdout, stderr } = process;
goOnWhereUnread(process);
/** How much of the log is kept while it cannot be written; what comes then is dropped. */
const KEPT_LOG_BYTES = 1024 * 1024;

const tell = (line: string) => stdout.write(`${line}\n`);
const stopping = new AbortController();
const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The second one does not wait for requests in flight.
    if (stopping.signal.aborted) process.exit(1);
    stopping.abort();
  });
}

/** `npm start [-- --no-rebuild]`: whatever a first start lacks, then serving until told to stop. */
async function run(): Promise<void> {
  const rebuilding = readOptions();
  refuseKeys();
  const config = readConfig();
  const firstStart = { config, now: () => new Date(), signal: stopping.signal, tell };
  await prepareCatalogue(firstStart);
  if (rebuilding) await prepareRelease(firstStart);
  const log = pino.destination({ fd: 2, sync: true, maxLength: KEPT_LOG_BYTES });
  // A log that nobody reads, or that has no room, is no reason to stop serving.
  log.on('error', () => undefined);
  const logger = pino({ level: config.logLevel }, log);
  const server = await startServer({ config, logger, rebuilding, probing: config.probe });
  tell(`${config.serviceTitle} listens on ${server.url}. Ctrl-C stops it.`);
  tell(`  pages      ${buildUrl(config.baseUrl, PATHS.home)}`);
  tell(`  OpenAPI    ${buildUrl(config.baseUrl, PATHS.openapi)}`);
  tell(`  MCP        ${buildUrl(config.baseUrl, PATHS.mcp)}`);
  tell(`  llms.txt   ${buildUrl(config.baseUrl, PATHS.guide)}`);
  await stopped;
  tell('Stopping when the requests in flight are answered; once more stops at once.');
  await server.close();
}

function readOptions(): boolean {
  try {
    const { values } = parseArgs({ options: { 'no-rebuild': { type: 'boolean' } } });
    return !values['no-rebuild'];
  } catch (error) {
    throw buildUsageFailure(getErrorMessage(error), 'npm start -- [--no-rebuild]');
  }
}

try {
  await run();
  process.exit(0);
} catch (error) {
  const failure = getFailure(error);
  stderr.write(`error: ${failure.message}\n${failure.hint ? `hint: ${failure.hint}\n` : ''}`);
  process.exit(stopping.signal.aborted ? 0 : getExitCode(failure));
}
