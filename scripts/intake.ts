import './require-node.mjs';

const { endWithFailure, readArguments } = await import('./entry.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { readConfig, refuseKeys } = await import('../src/config.ts');
const { openLog, say } = await import('./log.ts');

const USAGE = {
  line: 'npm run intake -- [--port <port>]',
  about: `Checks what providers name, at HOST and PORT. npm start does so itself, in a process of its own, where INTAKE is on.

  --port        listens there instead of at PORT, which is that of the server
  -h, --help    shows this
  -V, --version shows the version

Settings are read from the environment and .env; .env.example lists them. It needs no catalogue.`,
};

const { stdout, stderr } = process;
const signal = listenForStop(process, () => undefined);

try {
  const { values } = readArguments(USAGE, { port: { type: 'string' } });
  refuseKeys();
  const given = readConfig();
  const settings = {
    ...given,
    ...(values.port && { port: readConfig({ PORT: values.port, BASE_URL: given.baseUrl }).port }),
  };
  const logger = openLog(stderr, settings.logLevel);
  const { startIntake } = await import('../src/intake/intake.ts');
  const { createCheckMetrics } = await import('../src/metrics/checks.ts');
  // A server that started it passes requests on to it, and counts what it does.
  const server = process.send && ((message: object) => process.connected && process.send?.(message));
  const metrics = server ? undefined : createCheckMetrics();
  const intake = await startIntake({
    config: server ? { ...settings, host: '127.0.0.1', port: 0 } : settings,
    logger,
    onEnd: (outcome, ms) => (server ? server({ outcome, ms }) : metrics?.countCheck(outcome, ms)),
  });
  if (server) server({ url: intake.url });
  else say(stdout, `The intake listens on ${intake.url}. Ctrl-C stops it.`);
  const onError = (error: unknown) => logger.error({ err: error }, 'the metrics cannot be read');
  const { openMetricsListener } = await import('../src/metrics/listener.ts');
  const watched =
    metrics &&
    settings.metrics &&
    (await openMetricsListener(settings.metrics, { readMetrics: metrics.read, onError }));
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await Promise.all([intake.close(), watched?.close()]);
  process.exit(0);
} catch (error) {
  endWithFailure(error);
}
