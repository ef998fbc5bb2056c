import { getRequestListener } from '@hono/node-server';
import { openGuardedClient } from '../fetching/client.ts';
import type { Network } from '../fetching/network.ts';
import { openTextResolver } from '../fetching/text-records.ts';
import { buildClientReader } from '../http/client.ts';
import type { IntakeRequest } from '../http/intake-process.ts';
import { openListener } from '../http/listening.ts';
import { buildLine, type CheckContext, openCheck } from '../probing/check-address.ts';
import { getOwnCodeVersion } from '../site/page-code.ts';
import { openPageRenderer } from '../site/rendering.ts';
import { getSite } from '../site/settings.ts';
import { getProviderFileUrl } from '../sources/provider-file/read.ts';
import { openQueue } from '../submissions/queue.ts';
import { PATHS } from '../views/links.ts';
import { getUserAgent } from '../views/site.ts';
import { createIntake } from './app.ts';
import { type ChecksOptions, openChecks, type Report } from './checks.ts';
import { openLimits, openPseudonyms } from './limits.ts';
import { addLines, addResult } from './report.ts';
import { buildStrictClient, CHECK_MS } from './strict-client.ts';
import type { RenderIntakePage } from './submission-routes.ts';
import { openSubmissions } from './submissions.ts';

/** Time without a request after which the intake is idle, and interval for checking that, in milliseconds. */
const IDLE_MS = 10 * 60 * 1000;
const LOOK_MS = 5_000;

/**
 * Interval for removing data that was kept for a day, and longest time for requests in flight when the intake ends, in
 * milliseconds.
 */
const PRUNE_MS = 60_000;
const GRACE_MS = 1_500;

interface IntakeOptions extends IntakeRequest {
  readonly onEnd: ChecksOptions['onEnd'];
  /** Called repeatedly while there was no request for ten minutes and no submission waits for its outcome. */
  readonly onIdle: () => void;
  /** Called with failures of our own. */
  readonly onError: (error: unknown) => void;
  /** Returns whole milliseconds since 1970, by a clock that does not go backwards. */
  readonly now?: () => number;
  /** The network below the checks; tests replace it with loopback. */
  readonly network?: Partial<Network> | undefined;
}

/**
 * Starts the intake on a free port of this machine. It checks addresses that strangers name, in a process without access to the
 * catalogue. Throws as `openQueue` does.
 */
export async function startIntake({
  config,
  key,
  onEnd,
  onIdle,
  onError,
  now = () => Math.floor(performance.timeOrigin + performance.now()),
  network,
}: IntakeOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const { baseUrl, allowPrivateNetworks, trustedProxies } = config;
  const site = { ...getSite(config), hasIntake: true };
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent({ baseUrl }), network });
  const resolver = openTextResolver();
  const closing = new AbortController();

  const run = async (report: Report): Promise<boolean> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CHECK_MS)]);
    const { resource, asked } = report.view;
    const context: CheckContext = {
      client: buildStrictClient(client, { url: resource, baseUrl, signal }),
      resolver,
      config,
      signal,
      isStranger: true,
      now: () => new Date(),
      onExchange: (exchange) => void asked.push(exchange),
    };
    const { lines, summarise, getFiles } = openCheck(resource, 'GET', context);
    try {
      for await (const more of lines) addLines(report, more);
    } catch (error) {
      if (!signal.aborted) onError(error);
      const late = closing.signal.aborted ? 'this service was stopped' : `it took ${CHECK_MS / 1000} s`;
      const found = `The check ended because ${signal.aborted ? late : 'of a fault of ours'}, before all was asked.`;
      addLines(report, [buildLine('limits', resource, false, found, { severity: 'advisory', code: 'not_all_asked' })]);
    }
    addResult(report, summarise());
    report.files = getFiles();
    const file = getProviderFileUrl(new URL(resource).origin);
    return asked.some(({ url, came }) => url === file && came.startsWith('200'));
  };

  const queue = openQueue(config.submissionsFile);
  const [pseudonymise, kept] = [openPseudonyms(key), queue.reports];
  const limits = openLimits({ now, pseudonymise, kept, isLocalAllowed: allowPrivateNetworks });
  const shared = { site, closing: closing.signal, onError };
  const checks = openChecks({ ...shared, limits, kept, run, now: () => new Date(now()), onEnd });
  const submissions = openSubmissions({
    ...shared,
    queue,
    pseudonymise,
    publishedFile: config.publishedFile,
    checks,
    now: () => new Date(),
  });
  const app = createIntake({
    site,
    checks,
    submissions,
    take: limits.take,
    allowPrivateNetworks,
    render: openRenderer(site),
    onError,
    // The servers that pass requests on to the intake are on this machine, or are configured.
    getClient: buildClientReader(['loopback', ...trustedProxies]),
  });
  const listener = await openListener({ host: '127.0.0.1', port: 0, trustedProxies: ['loopback'] });
  const answer = getRequestListener(app.fetch, { hostname: 'localhost' });
  let askedAt = now();
  listener.serve((request, response) => {
    askedAt = now();
    void answer(request, response);
  });
  kept.prune(now());
  let prunedAt = now();
  const look = () => {
    try {
      if (now() - prunedAt > PRUNE_MS) {
        kept.prune(now());
        prunedAt = now();
      }
      if (now() - askedAt > IDLE_MS && !submissions.isAnyReceived()) onIdle();
    } catch (error) {
      onError(error);
    }
  };
  const looking = setInterval(look, LOOK_MS);
  return {
    url: listener.url,
    close: async () => {
      clearInterval(looking);
      closing.abort();
      await listener.drain(GRACE_MS);
      await submissions.close();
      queue.close();
      resolver.close();
      await client.close();
    },
  };
}

/** Opens the rendering of the intake's pages, with the compiled pages of this code. */
function openRenderer(site: ReturnType<typeof getSite>): RenderIntakePage {
  const { load } = openPageRenderer(getOwnCodeVersion());
  return async (page) => {
    const render = await load();
    const rendered = await render?.(getPath(page), { site }, page);
    return rendered?.body.toString();
  };
}

function getPath(page: Parameters<RenderIntakePage>[0]): string {
  if ('journey' in page) return PATHS.submissions;
  return page.submission.part ? `${PATHS.submit}/part` : PATHS.submit;
}
