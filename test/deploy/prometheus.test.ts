import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeFolder, NOW } from '../builders.ts';
import { makeCommands, writeManifest } from '../cli/running.ts';
import { makeUsed } from '../cli/used.ts';
import { breakReading } from '../http/broken.ts';
import { callTool, readSamples, serveWithMetrics } from '../http/metrics.ts';
import { serveSiteFixture } from '../http/running.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ALERTS, buildQuietTest, listFiring } from './alerts.ts';
import { DEPLOY, readDeployed, runTool } from './tools.ts';

const FOLDER = join(DEPLOY, 'prometheus');

/** The names of the metrics that an expression reads. */
function listMetrics(expression: string): string[] {
  return [...expression.matchAll(/\b(?:up|(?:catalogue|process|nodejs)_\w+)\b/g)].map(([name]) => name);
}

describe('the configuration of Prometheus', () => {
  it('passes promtool, with every alert tried', (context) => {
    for (const args of [
      // The rules that they name are checked with them.
      ['check', 'config', 'host.yml', 'compose.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const ran = runTool('promtool', args, { cwd: FOLDER });
      if (!ran) return context.skip('no promtool: install prometheus');
      expect([args, ran.code, ran.said]).toEqual([args, 0, expect.stringContaining('SUCCESS')]);
    }
  });

  it('reads only metrics that the service has, with labels that they have', async () => {
    const server = await serveWithMetrics();
    await fetch(`${server.url}/healthz`);
    // Nothing is counted of tools until one is called, and none of failures until there is one.
    breakReading(server.fixture);
    await callTool(server, 'search_listings', { q: 'title' });
    const { run } = await makeUsed({ MAX_USDC_PER_DAY: '1' });
    const { stdout } = await run(['metrics']);
    const known = [...(await readSamples(server)), ...stdout.split('\n')].filter((line) => !line.startsWith('#'));
    const names = new Set(['up', ...known.map((line) => /^[^{ ]+/.exec(line)?.[0])]);
    // A catalogue that was never filled from a feed has none to tell of; their test is that of feeds.
    for (const name of ['completed_timestamp_seconds', 'failing']) names.add(`catalogue_feed_${name}`);
    for (const { alert, expr } of ALERTS) {
      const read = listMetrics(expr.replace(/\{[^}]*\}/g, ''));
      expect([alert, read.length > 0]).toEqual([alert, true]);
      expect([alert, read.filter((name) => !names.has(name))]).toEqual([alert, []]);
      for (const [, name = '', labels = ''] of expr.matchAll(/(\w+)\{([^}]*)\}/g)) {
        for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
          if (label === 'job' || value === '5xx') continue;
          expect([alert, known.some((line) => line.startsWith(name) && line.includes(`${label}="${value}"`))]).toEqual([
            alert,
            true,
          ]);
        }
      }
    }
  });

  it('tries every alert', () => {
    const tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
      readDeployed('prometheus/alerts.test.yml'),
      { merge: true },
    ).tests;
    const fired = tests.flatMap(({ alert_rule_test }) =>
      alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
    );
    expect(new Set(fired)).toEqual(new Set(ALERTS.map(({ alert }) => alert)));
  });
});

/** Starts the service with a new catalogue of one listing, and reads all that Prometheus would get of it once it is ready. */
async function readFreshSamples(): Promise<string[]> {
  const { folder, run } = makeCommands({ MAX_USDC_PER_DAY: '5' }, () => new Date());
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  const fixture = await makeSiteFixture(folder, { count: 0, settings: { METRICS_PORT: '0' } });
  const { metricsUrl = '' } = await serveSiteFixture({ fixture });
  const served = await readSamples({ metricsUrl });
  const { stdout } = await run(['metrics']);
  const figures = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return ['up{job="catalogue"} 1', 'up{job="catalogue-figures"} 1', ...served, ...figures];
}

describe('the alerts', () => {
  it('are quiet on a fresh installation, which leaves out what is not known yet', async () => {
    const samples = await readFreshSamples();
    const at = Date.now() / 1000;
    expect(samples).toContain('catalogue_ready 1');
    expect(samples).toContain('catalogue_up 1');
    expect(samples.filter((line) => /^catalogue_(feed|probe_last)_/.test(line))).toEqual([]);
    expect(listFiring(samples, at)).toEqual([]);
    // That nothing fires is worth something only where something could.
    expect(listFiring([...samples, 'catalogue_feed_completed_timestamp_seconds 0'], at)).toEqual(['FeedStale']);
    expect(listFiring([...samples, 'catalogue_listings_due 63'], at)).toEqual(['ProbingStopped']);
    expect(listFiring([], at)).toEqual([]);

    const file = join(makeFolder(), 'fresh.test.yml');
    writeFileSync(file, buildQuietTest(samples, at, join(FOLDER, 'alerts.yml')));
    const ran = runTool('promtool', ['test', 'rules', file]);
    if (ran) expect([ran.code, ran.said]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('tell of a prober that was never started, after a day', async () => {
    let at = NOW;
    const { folder, run } = makeCommands({}, () => new Date(at));
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    const read = async () => listFiring((await run(['metrics'])).stdout.split('\n'), Date.parse(at) / 1000);
    expect(await read()).toEqual([]);
    at = '2026-11-21T12:01:00.000Z';
    expect(await read()).toEqual(['ProbingStopped']);
  });
});
