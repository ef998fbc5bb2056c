import type { Logger } from 'pino';
import { openDelisted } from '../catalogue/listings.ts';
import { openSettled } from '../catalogue/payment-records.ts';
import type { Config } from '../config.ts';
import { openPictures } from '../pictures/pictures.ts';
import { getSite } from '../release/release.ts';
import { openReading } from '../snapshot/reading.ts';
import { getWordIndex } from '../snapshot/word-index.ts';
import { buildLinkHeader } from '../views/conventions/link-header.ts';
import { openAdmission } from './admission.ts';
import { openCatalogueFile } from './catalogue-file.ts';
import { createContentStore } from './content.ts';
import { openCurrentRelease } from './current-release.ts';
import { handleRequest, type Serving } from './handler.ts';
import { openReadiness } from './health.ts';
import { type Listener, openListener } from './listening.ts';
import type { AnswerLive } from './live-answers.ts';
import { shareForMoment } from './moment.ts';
import { openOnDemand } from './on-demand.ts';
import { openReleasePages } from './page-files.ts';
import { startProbing } from './probing.ts';
import { startRebuilding } from './rebuilding.ts';
import { answerFailure, logRequest } from './request-log.ts';
import { buildSecurityHeaders } from './security-headers.ts';

/** How much of the pages is kept in memory, and of their compressed forms: those of thousands of pages. */
const PAGE_MEMORY = { bodies: 8 * 1024 * 1024, forms: 16 * 1024 * 1024 };

/** For how long after the start pages are served and nothing else is done, unless something else is asked for; milliseconds. */
const PAGES_FIRST_MS = 200;

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, which behind a proxy is not the service's address. */
  readonly url: string;
  /** Stops taking connections, finishes the requests in flight (3 seconds at most), then lets everything go. */
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
  listener,
  rebuilding = false,
  probing = false,
  now,
}: {
  config: Config;
  logger: Logger;
  /** The port, where it is taken already. */
  listener?: Listener;
  rebuilding?: boolean;
  probing?: boolean;
  /** Milliseconds by which the rate limit counts, of a clock that never goes backwards. */
  now?: () => number;
}): Promise<RunningServer> {
  const reading = openReading(config.catalogueFile, getSite(config));
  const catalogueFile = openCatalogueFile(config.catalogueFile, logger);
  const current = openCurrentRelease({ releasesDir: config.releasesDir, reading, logger });
  const onDemand = openOnDemand({ reading, current, logger });
  const store = createContentStore(PAGE_MEMORY);
  const pictures = openPictures();
  const checkReadiness = openReadiness({ reading, current, catalogueFile, releasesDir: config.releasesDir });
  let shuttingDown = false;
  let [isLoaded, loading]: [boolean, Promise<void> | undefined] = [false, undefined];
  let live: AnswerLive | undefined;
  const headers = buildSecurityHeaders(config.baseUrl);
  const link = buildLinkHeader(config.baseUrl);
  const liveHeaders = [...headers, 'Cross-Origin-Resource-Policy', 'cross-origin', 'Link', link];
  const serving: Serving = {
    getSnapshot: shareForMoment(reading.getSnapshot),
    isLoaded: () => isLoaded,
    getLoading: () => (isLoaded ? undefined : load()),
    isDelisted: openDelisted(reading.catalogue),
    isSettled: openSettled(reading.catalogue),
    releasesDir: config.releasesDir,
    current,
    pictures,
    site: reading.site,
    findReleasePage: openReleasePages({ current, store, logger }),
    onDemand,
    store,
    getLive: () => live,
    liveHeaders,
    getReadiness: () => checkReadiness(shuttingDown),
    admit: openAdmission(config, now),
    headers,
    baseUrl: config.baseUrl,
    link,
    logger,
  };
  const loadAll = async () => {
    onDemand.isReady();
    const { openLive } = await import('./live.ts');
    live = openLive({ reading, logger, headers: liveHeaders });
    await reading.load();
    // Whoever searches first would wait for it.
    getWordIndex(reading.catalogue, reading.getSnapshot());
  };
  const load = () => {
    loading ??= loadAll()
      .catch((error: unknown) => logger.error({ err: error }, 'the catalogue cannot be read'))
      .finally(() => {
        isLoaded = true;
        // Whoever waited is answered first.
        setImmediate(giveBackMemory);
      });
    return loading;
  };
  const release = () => {
    catalogueFile.close();
    current.close();
    onDemand.close();
    void pictures.close();
    reading.catalogue.close();
  };
  const { serve, drain, url } =
    listener ??
    (await openListener(config).catch((error) => {
      release();
      throw error;
    }));
  serve((request, response) => {
    logRequest(logger, request, response);
    handleRequest(serving, request, response).catch((error) => answerFailure(serving, request, response, error));
  });
  const pagesFirst = setTimeout(load, PAGES_FIRST_MS);
  const stopRebuilding = rebuilding ? startRebuilding({ config, logger, onRelease: current.follow }) : undefined;
  const stopProbing = probing ? startProbing(logger) : undefined;
  return {
    url,
    async close() {
      shuttingDown = true;
      clearTimeout(pagesFirst);
      await Promise.all([stopProbing?.(), stopRebuilding?.(), drain()]);
      release();
    },
  };
}

/**
 * Reading a whole catalogue leaves several times as much garbage behind as is kept of it, between what is kept. Left to
 * itself that is cleared away when memory is short, which on a machine with much of it is never. (`npm start` allows it.)
 */
function giveBackMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
