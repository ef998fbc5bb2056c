import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NOW } from '../builders.ts';
import { sendChallenge, sendStatus } from '../probing/market.ts';
import { isRoute, makeMarketCommands } from '../probing/probing.ts';
import { startCatalogue } from './running.ts';

const PATHS = ['/v1/a', '/v1/b', '/v1/c'];

/** A seller that takes a while, or until it is let go on, and knows how many requests it had at once. */
function makeSlow(delayMs: number | Promise<void>) {
  let [now, most, asked] = [0, 0, 0];
  return {
    answer: async (response: ServerResponse, url: string) => {
      now += 1;
      asked += 1;
      most = Math.max(most, now);
      await (typeof delayMs === 'number' ? sleep(delayMs) : delayMs);
      now -= 1;
      if (isRoute(url)) sendChallenge(response);
      else sendStatus(response, 404);
    },
    getMost: () => most,
    getAsked: () => asked,
  };
}

/** Starts the real command as a process of its own, killed after the test if it is still there. */
function start(environment: Record<string, string>, ...args: string[]) {
  const started = startCatalogue(['probe', ...args], environment);
  let stderr = '';
  started.child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  onTestFinished(() => {
    started.child.kill('SIGKILL');
  });
  return { ...started, getStderr: () => stderr };
}

describe('two runs at once', () => {
  it('wait for each other, the one that is stopped while it waits says so, and one that is stopped by Ctrl-C leaves the others what it did not probe', async () => {
    const market = makeMarketCommands();
    const { promise: waiting, resolve: goOn } = Promise.withResolvers<void>();
    const slow = makeSlow(waiting);
    await market.list('alpha', slow.answer, PATHS);
    const first = start(market.environment, '--all', '--pause', '0', '--timeout', '60000', '--json');
    await expect.poll(() => slow.getAsked()).toBeGreaterThan(0);
    market.setHours((Date.now() - Date.parse(NOW)) / 3_600_000);
    const second = market.run(['probe', '--all', '--pause', '0', '--json']);
    const third = start(market.environment, '--due', '--pause', '0');
    await expect.poll(() => third.getStderr()).toContain('Another probe run is using this catalogue');
    third.child.kill('SIGINT');
    const waited = await third.ran;
    expect(waited.code).toBe(1);
    expect(waited.stderr).toContain('error: Another probe run is active, and this one was stopped before its turn');

    first.child.kill('SIGINT');
    await expect.poll(first.getStderr).toContain('Stopping at the next safe point');
    goOn();
    const stopped = await first.ran;
    expect(stopped.code).toBe(1);
    const report = JSON.parse(stopped.stdout);
    expect(report).toMatchObject({ complete: false, routes: { planned: 3 } });
    expect(Object.keys(report.outcomes).filter((outcome) => outcome !== 'payable')).toEqual([]);

    const { code, stdout, stderr } = await second;
    expect(code).toBe(0);
    expect(stderr).toContain('Another probe run is using this catalogue; waiting for its end.');
    const rest = JSON.parse(stdout);
    expect(rest).toMatchObject({ complete: true, routes: { planned: 3, done_before: report.routes.probed } });
    expect(rest.routes.probed).toBe(3 - report.routes.probed);
    expect(slow.getMost()).toBe(1);
  });
});

describe('Ctrl-C', () => {
  it('ends a watch with 0, which probes what is due until then', async () => {
    const market = makeMarketCommands();
    const slow = makeSlow(0);
    await market.list('alpha', slow.answer, PATHS);
    const watch = start(market.environment, '--watch', '--pause', '0', '--json');
    await expect.poll(() => watch.getStderr()).toContain('Probed 1 routes on 1 hosts: 1 payable.');
    expect(watch.child.exitCode).toBeNull();
    watch.child.kill('SIGINT');
    const { code, stdout } = await watch.ran;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ scope: 'due', complete: true, routes: { probed: 1 } });
  });
});
