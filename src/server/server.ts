import { createServer } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Logger } from 'pino';
import { openDelisted } from '../catalogue/listings.ts';
import { openVersion } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { createLive } from '../live/app.ts';
import { buildProblem, buildProblemResponse } from '../live/problem.ts';
import { openPictures } from '../pictures/pictures.ts';
import { getSite } from '../release/release.ts';
import { openReading } from '../snapshot/reading.ts';
import { buildLinkHeader } from '../views/conventions/link-header.ts';
import { openAdmission } from './admission.ts';
import { createAnswerStore } from './answer-store.ts';
import { openCatalogueFile } from './catalogue-file.ts';
import { createContentStore } from './content.ts';
import { openCurrentRelease } from './current-release.ts';
import { handleRequest, type Serving } from './handler.ts';
import { openReadiness } from './health.ts';
import { getUrl, LIMITS, listen, openDrain } from './listening.ts';
import { openLiveAnswers } from './live-answers.ts';
import { openOnDemand } from './on-demand.ts';
import { openReleasePages } from './page-files.ts';
import { startProbing } from './probing.ts';
import { startRebuilding } from './rebuilding.ts';
import { answerFailure, logRequest } from './request-log.ts';
import { buildSecurityHeaders } from './security-headers.ts';
import { openSnapshotOfTurn } from './snapshot-of-turn.ts';
import { answerUnreadable } from './unreadable.ts';

/** How much of the pages is kept in memory. */
const PAGE_MEMORY = 256 * 1024 * 1024;

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, which behind a proxy is not the service's address. */
  readonly url: string;
  /** Stops taking connections, finishes the requests in flight (10 seconds at most), then lets everything go. */
  close(): Promise<void>;
}

/**
 * Starts the production server: live routes, the current release and pages on demand, in one process that opens the
 * catalogue for reading only. With `rebuilding` a child process makes a release whenever the catalogue is ahead, with
 * `probing` another asks listed routes as they fall due.
 * Throws `conflict` where the port is taken, and as `openReading` does.
 */
export async function startServer({
  config,
  logger,
  rebuilding = false,
  probing = false,
  now,
}: {
  config: Config;
  logger: Logger;
  rebuilding?: boolean;
  probing?: boolean;
  /** Milliseconds by which the rate limit counts, of a clock that never goes backwards. */
  now?: () => number;
}): Promise<RunningServer> {
  let readings = 0;
  const reading = openReading(config.catalogueFile, getSite(config), () => {
    readings += 1;
    return new Date();
  });
  const catalogueFile = openCatalogueFile(config.catalogueFile, logger);
  const current = openCurrentRelease({ releasesDir: config.releasesDir, reading, logger });
  const onDemand = openOnDemand({ reading, current, logger });
  const store = createContentStore(PAGE_MEMORY);
  const pictures = openPictures();
  const checkReadiness = openReadiness({ reading, current, catalogueFile, releasesDir: config.releasesDir });
  let shuttingDown = false;
  let loading: Promise<void> | undefined;
  const live = createLive({ reading, onError: (error) => logLiveError(logger, error) });
  const headers = buildSecurityHeaders(config.baseUrl);
  const link = buildLinkHeader(config.baseUrl);
  const liveHeaders = [...headers, 'Cross-Origin-Resource-Policy', 'cross-origin', 'Link', link];
  const serving: Serving = {
    getSnapshot: openSnapshotOfTurn(reading.getSnapshot),
    getLoading: () => loading,
    isDelisted: openDelisted(reading.catalogue),
    releasesDir: config.releasesDir,
    current,
    pictures,
    site: reading.site,
    findReleasePage: openReleasePages({ current, store, logger }),
    onDemand,
    store,
    live: openLiveAnswers({
      live: getRequestListener(live.fetch, {
        hostname: 'localhost',
        errorHandler: (error) => answerBroken(logger, error),
      }),
      headers: liveHeaders,
      store: createAnswerStore(openVersion(reading.catalogue), () => readings),
    }),
    liveHeaders,
    getReadiness: () => checkReadiness(shuttingDown),
    admit: openAdmission(config, now),
    headers,
    baseUrl: config.baseUrl,
    link,
    logger,
  };
  const server = createServer(LIMITS);
  const drain = openDrain(server);
  answerUnreadable(server, serving.headers);
  server.on('request', (request, response) => {
    logRequest(logger, request, response);
    handleRequest(serving, request, response).catch((error) => answerFailure(serving, request, response, error));
  });
  const release = () => {
    catalogueFile.close();
    current.close();
    onDemand.close();
    void pictures.close();
    reading.catalogue.close();
  };
  try {
    await listen(server, config);
  } catch (error) {
    release();
    throw error;
  }
  loading = reading
    .load()
    .catch((error: unknown) => logger.error({ err: error }, 'the catalogue cannot be read'))
    .finally(() => {
      loading = undefined;
    });
  const stopRebuilding = rebuilding ? startRebuilding({ config, logger, onRelease: current.follow }) : undefined;
  const stopProbing = probing ? startProbing(logger) : undefined;
  return {
    url: getUrl(server),
    async close() {
      shuttingDown = true;
      await Promise.all([stopProbing?.(), stopRebuilding?.(), drain()]);
      release();
    },
  };
}

/** What a reader did wrong is the reader's affair; only our own failures are logged as errors. */
function logLiveError(logger: Logger, error: unknown): void {
  const isOurs = !(error instanceof ServiceError) || error.code === 'internal' || error.code === 'unavailable';
  if (isOurs) logger.error({ err: error }, 'a live route failed');
}

/** Answers what the live app does not get to see as a request, such as one with a broken Host. */
function answerBroken(logger: Logger, error: unknown): Response {
  if (error instanceof RequestError) {
    return buildProblem({
      status: 400,
      code: 'malformed_request',
      detail: 'The request is malformed.',
      hint: 'Send one Host header that names a host.',
    });
  }
  logLiveError(logger, error);
  return buildProblemResponse(error);
}
