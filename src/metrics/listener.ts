import { createServer } from 'node:http';
import { getUrl, listen } from '../listen.ts';

/** Path at which metrics are served. */
const METRICS_PATH = '/metrics';

/** Media type of the text format of Prometheus (exposition format 0.0.4). */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A URL at which Prometheus finds the metrics of a process. */
export interface MetricsListener {
  /** The URL with its path. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves metrics on a port of their own. They say nothing about single clients, but only the operator should see the traffic. A
 * scrape that fails is answered with 500, or cut off, and reported to `onError`. Throws `conflict` if the port is taken, and
 * `bad_input` for an address that is not of this machine.
 */
export async function openMetricsListener(
  { host, port }: { host: string; port: number },
  { readMetrics, onError }: { readMetrics: () => Promise<string>; onError: (error: unknown) => void },
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, async (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?', 1)[0] !== METRICS_PATH) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`GET ${METRICS_PATH} is all there is here.\n`);
      return;
    }
    try {
      const metrics = await readMetrics();
      response.writeHead(200, { 'Content-Type': TYPE }).end(metrics);
    } catch (error) {
      onError(error);
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(500, { 'Content-Type': 'text/plain' })
          .end('The metrics cannot be read; the log says why.\n');
    }
  });
  await listen(server, { host, port, settings: 'METRICS_' });
  return {
    url: `${getUrl(server)}${METRICS_PATH}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
