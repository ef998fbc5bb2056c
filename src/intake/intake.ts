import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { openGuardedClient } from '../fetching/client.ts';
import type { Network } from '../fetching/network.ts';
import { openTextResolver } from '../fetching/text-records.ts';
import { buildClientReader } from '../http/client.ts';
import { openListener } from '../http/listening.ts';
import { buildLine, type CheckContext, openCheck } from '../probing/check-address.ts';
import { findPageCode, getCodeVersion } from '../site/page-code.ts';
import { loadPageCode, type RenderPage } from '../site/rendering.ts';
import { getSite } from '../site/settings.ts';
import { getProviderFileUrl } from '../sources/provider-file/read.ts';
import { PATHS } from '../views/links.ts';
import { getUserAgent } from '../views/site.ts';
import { createIntake } from './app.ts';
import { type ChecksOptions, openChecks, type Report } from './checks.ts';
import { openLimits } from './limits.ts';
import { addLines, addResult } from './report.ts';
import { buildStrictClient, CHECK_MS } from './strict-client.ts';
import type { RenderIntakePage } from './submission-routes.ts';
import { openSubmissions } from './submissions.ts';

/** Starts the intake: it checks what strangers name, in a process without rights on the catalogue. */
export async function startIntake({
  config,
  logger,
  onEnd,
  now = () => performance.now(),
  network,
}: {
  config: Config;
  logger: Logger;
  onEnd: ChecksOptions['onEnd'];
  now?: () => number;
  /** The network below the checks; tests replace it with loopback. */
  network?: Partial<Network> | undefined;
}): Promise<{ url: string; close: () => Promise<void> }> {
  const { baseUrl, allowPrivateNetworks, trustedProxies } = config;
  const site = { ...getSite(config), hasIntake: true };
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent({ baseUrl }), network });
  const resolver = openTextResolver();
  const closing = new AbortController();
  const onError = (error: unknown) => logger.error({ err: error }, 'a check failed');

  const run = async (report: Report): Promise<boolean> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CHECK_MS)]);
    const { resource, asked } = report.view;
    const context: CheckContext = {
      ...{ client: buildStrictClient(client, { url: resource, baseUrl, signal }), resolver, config, signal },
      ...{ isStranger: true, now: () => new Date() },
      onExchange: (exchange) => void asked.push(exchange),
    };
    const { lines, summarise, getFiles } = openCheck(resource, 'GET', context);
    try {
      for await (const more of lines) addLines(report, more);
    } catch (error) {
      if (!signal.aborted) onError(error);
      const why = signal.aborted ? `it took ${CHECK_MS / 1000} s` : 'of a fault of ours';
      const found = `The check ended because ${why}, before all was asked.`;
      addLines(report, [buildLine('limits', resource, false, found, { severity: 'advisory', code: 'not_all_asked' })]);
    }
    addResult(report, summarise());
    report.files = getFiles();
    const file = getProviderFileUrl(new URL(resource).origin);
    return asked.some(({ url, came }) => url === file && came.startsWith('200'));
  };

  const limits = openLimits(now, allowPrivateNetworks);
  const checks = openChecks({ site, limits, run, now: () => new Date(), onEnd, onError });
  const submissions = openSubmissions({
    ...{ file: config.submissionsFile, publishedFile: config.publishedFile, site, checks, onError },
    now: () => new Date(),
  });
  const app = createIntake({
    ...{ site, checks, submissions, take: limits.take, allowPrivateNetworks, render: openRenderer(site), onError },
    // What passes requests on to it is on this machine, or is named.
    getClient: buildClientReader(['loopback', ...trustedProxies]),
  });
  const { serve, drain, url } = await openListener({ ...config, trustedProxies: ['loopback', ...trustedProxies] });
  const answer = getRequestListener(app.fetch, { hostname: 'localhost' });
  serve((request, response) => void answer(request, response));
  return {
    url,
    close: async () => {
      closing.abort();
      await drain();
      await submissions.close();
      resolver.close();
      await client.close();
    },
  };
}

/** Opens the rendering of the pages of the intake, by the compiled pages of this code. */
function openRenderer(site: ReturnType<typeof getSite>): RenderIntakePage {
  let loading: Promise<RenderPage> | undefined;
  return async (page) => {
    const code = loading ? undefined : findPageCode(getCodeVersion());
    if (code) loading = loadPageCode(code);
    const render = await loading;
    const rendered = await render?.(getPath(page), { site }, page);
    return rendered?.body.toString();
  };
}

function getPath(page: Parameters<RenderIntakePage>[0]): string {
  if ('journey' in page) return PATHS.submissions;
  return page.submission.part ? `${PATHS.submit}/part` : PATHS.submit;
}
