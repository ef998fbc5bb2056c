import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { openPictures } from '../pictures/pictures.ts';
import type { Progress } from '../published/follow.ts';
import { startFollowing } from '../published/live-file.ts';
import { buildReading, type Reading } from '../published/reading.ts';
import { prepareSearchIndex } from '../published/search-index.ts';
import { getOwnCodeVersion } from '../site/page-code.ts';
import { getSitePaths } from '../site/paths.ts';
import { getSite } from '../site/settings.ts';
import { createApp } from './app.ts';
import { startProbing, startRebuilding } from './background.ts';
import { buildClientReader, buildProxyCheck } from './client.ts';
import { addDownloadRoutes } from './endpoints/download.ts';
import { addHealthRoutes, FAULT_CODES, getHealth, type Health } from './endpoints/health.ts';
import { loadMcp } from './endpoints/mcp.ts';
import { addPictureRoute } from './endpoints/pictures.ts';
import { type IntakeGate, openIntakeGate } from './intake.ts';
import { openIntake, type UseIntake } from './intake-process.ts';
import { type Listener, openListener } from './listening.ts';
import { openOnDemand } from './on-demand.ts';
import { openPages } from './pages.ts';
import { buildProblem, buildProblemResponse, MALFORMED } from './problem.ts';
import { limitRate } from './rate-limit.ts';
import { logRequests } from './request.ts';
import { openSiteFiles } from './site-files.ts';

/** Time between two checks after a start whether the published catalogue can be read, in milliseconds. */
const LOOK_MS = 200;

/** Time between two lines of the log about a published catalogue that is being made, in milliseconds. */
const PROGRESS_MS = 10_000;

/** The settings of a server, and the parts that it is given. */
interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** The port, if it is already taken. */
  readonly listener?: Listener;
  readonly rebuilding?: boolean;
  readonly probing?: boolean;
  /** The clock of the rate limit, in milliseconds; it never goes backwards. */
  readonly now?: (() => number) | undefined;
}

/** A running server. */
export interface RunningServer {
  /** URL at which it listens. Behind a proxy this is not the service's base URL. */
  readonly url: string;
  /** URL of its metrics; undefined if none are served. */
  readonly metricsUrl?: string | undefined;
  /** Stops taking connections, lets requests in flight finish (for at most 3 seconds), then closes everything. */
  close(): Promise<void>;
}

/**
 * Starts the production server: live routes, the pages of the site folder and pages on demand, in one process. It only reads the
 * catalogue, copies each change into the published catalogue, and answers from that. With `rebuilding` a child process writes the
 * pages whenever the catalogue is ahead. With `probing` another one probes routes when they are due. Throws `conflict` if the
 * port is taken, and as `startFollowing` does.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, logger } = options;
  const codeVersion = getOwnCodeVersion();
  const sources = await openSources(options, codeVersion);
  let isShuttingDown = false;
  const readHealth = () => getHealth({ ...sources, isShuttingDown: () => isShuttingDown });
  const metrics = config.metrics ? await createMetrics(sources.reading, { readHealth, codeVersion }) : undefined;
  const onError = (error: unknown) => {
    sources.following.noteFailure(error);
    logger.error({ err: error }, 'a request failed');
  };
  const { intake: place, trustedProxies } = config;
  const own = place === 'on' ? openIntake({ config, logger, count: metrics?.countCheck }) : undefined;
  const use: UseIntake = own?.use ?? ((work) => work(place));
  const intake = place === 'off' ? undefined : openIntakeGate({ use, isTrustedProxy: buildProxyCheck(trustedProxies) });
  const app = buildApp(options, sources, { readHealth, metrics, onError, intake });
  const { serve, drain, url, watched } = await takePorts(options, metrics).catch(async (error) => {
    await sources.close();
    throw error;
  });
  const answer = buildListener(app, onError);
  serve((request, response) => {
    metrics?.countRequest(request, response);
    void answer(request, response);
  });
  void warmUp(sources, () => isShuttingDown).catch((error: unknown) => {
    // The catalogue may have been closed during the reading.
    if (!isShuttingDown) logger.error({ err: error }, 'the published catalogue cannot be read');
  });
  const stopRebuilding = options.rebuilding
    ? startRebuilding({ config, logger, count: metrics?.countRebuild })
    : undefined;
  const stopProbing = options.probing ? startProbing(logger) : undefined;
  return {
    url,
    metricsUrl: watched?.url,
    async close() {
      isShuttingDown = true;
      await Promise.all([stopProbing?.(), stopRebuilding?.(), own?.stop(), drain()]);
      await watched?.close();
      await sources.close();
    },
  };
}

type Sources = Awaited<ReturnType<typeof openSources>>;

/** Opens the sources of all answers. `close` closes them. */
async function openSources({ config, logger }: ServerOptions, codeVersion: string) {
  const onFailure = (error: unknown) =>
    logger.error({ err: error }, 'the published catalogue cannot follow the catalogue');
  const following = await startFollowing(config, codeVersion, onFailure, logProgress(logger));
  const { refuseUnservable, noteFailure } = following;
  const reading = buildReading(following.published, getSite(config), {
    refresh: refuseUnservable,
    onFailure: noteFailure,
  });
  const files = openSiteFiles({
    siteDir: config.siteDir,
    reading,
    findCatalogue: following.findCatalogue,
    logger,
  });
  const onDemand = openOnDemand({ reading, codeVersion });
  const pictures = openPictures({
    folder: getSitePaths(config.siteDir).pictures,
    onFailure: (error) => logger.warn({ err: error }, 'the folder of pictures cannot be used'),
  });
  return {
    following,
    reading,
    files,
    onDemand,
    pictures,
    async close(): Promise<void> {
      files.close();
      void pictures.close();
      // Closed last: only the writer can remove the file's journal, which the next start would otherwise read through.
      await following.close();
    },
  };
}

/** Logs the progress of a published catalogue that is being made: at the start, every ten seconds, and at the end. */
function logProgress(logger: Logger): (progress: Progress | undefined) => void {
  let loggedAt: number | undefined;
  return (progress) => {
    if (progress && (loggedAt === undefined || performance.now() - loggedAt >= PROGRESS_MS)) {
      loggedAt = performance.now();
      logger.info(progress, 'the listings of the published catalogue are being written');
    }
    if (progress || loggedAt === undefined) return;
    loggedAt = undefined;
    logger.info('all listings of the published catalogue are written');
  };
}

/** Builds the app with a server's additions: log, limit, health, pages, pictures and the download. */
function buildApp(
  { config: { allowPrivateNetworks, trustedProxies, rateLimit, siteDir }, logger, now }: ServerOptions,
  { following, reading, files, onDemand, pictures }: Sources,
  {
    readHealth,
    metrics,
    onError,
    intake,
  }: {
    readHealth: () => Health;
    metrics: ServiceMetrics | undefined;
    onError: (error: unknown) => void;
    intake: IntakeGate | undefined;
  },
) {
  const getClient = buildClientReader(trustedProxies);
  return createApp({
    allowPrivateNetworks,
    reading,
    following,
    onError,
    intake,
    logRequests: logRequests(logger, getClient),
    limitRate: limitRate({ limit: rateLimit, getClient, now }),
    onToolCall: metrics?.countToolCall,
    addHealth: (app) => addHealthRoutes(app, readHealth),
    addPages: (app) => {
      addPictureRoute(app, { pictures, reading });
      addDownloadRoutes(app, { siteDir });
      return openPages({ reading, files, onDemand, logger });
    },
  });
}

/** Takes the port of the metrics, if they are served, and the port of the service, if it is not taken already. */
async function takePorts({ config, logger, listener }: ServerOptions, metrics: ServiceMetrics | undefined) {
  const watched = config.metrics && metrics && (await serveMetrics(config.metrics, metrics, logger));
  try {
    return { watched, ...(listener ?? (await openListener(config))) };
  } catch (error) {
    await watched?.close();
    throw error;
  }
}

/** Builds the function that answers Node's requests with the app. */
function buildListener(app: ReturnType<typeof createApp>, onError: (error: unknown) => void) {
  return getRequestListener(app.fetch, {
    hostname: 'localhost',
    // Called for errors outside the app, such as a request with a broken Host.
    errorHandler: (error) => {
      if (error instanceof RequestError) return buildProblem(MALFORMED);
      onError(error);
      return buildProblemResponse(error);
    },
  });
}

/** Loads what the first requests would otherwise wait for, once the published catalogue can be read. */
async function warmUp({ reading, onDemand, following }: Sources, isStopped: () => boolean): Promise<void> {
  do {
    await sleep(LOOK_MS, undefined, { ref: false });
    if (isStopped()) return;
  } while (following.findObstacle() || following.findProgress());
  reading.getSnapshot();
  await prepareSearchIndex(reading.published);
  onDemand.isReady();
  await loadMcp();
}

/** Creates the metrics. Their code is loaded only if they are served. */
async function createMetrics(
  reading: Reading,
  { readHealth, codeVersion }: { readHealth: () => Health; codeVersion: string },
): Promise<ServiceMetrics> {
  const { createServiceMetrics } = await import('../metrics/service.ts');
  return createServiceMetrics({
    getHealth: readHealth,
    faults: FAULT_CODES,
    countListings: () => {
      const { live_listings, settlement_verified } = reading.getSnapshot();
      return { live: live_listings, verified: settlement_verified };
    },
    codeVersion,
    now: reading.now,
  });
}

async function serveMetrics(address: NonNullable<Config['metrics']>, metrics: ServiceMetrics, logger: Logger) {
  const { openMetricsListener } = await import('../metrics/listener.ts');
  const onError = (error: unknown) => logger.error({ err: error }, 'the metrics cannot be read');
  const listener = await openMetricsListener(address, { readMetrics: metrics.read, onError });
  logger.info({ url: listener.url }, 'serving metrics');
  return listener;
}
