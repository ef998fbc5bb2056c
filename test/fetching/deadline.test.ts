import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { startDeadline } from '../../src/fetching/deadline.ts';
import { listen } from './outside.ts';

/** Blocks the event loop. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Blocks the event loop at intervals until stopped. */
function keepHolding(ms: number, pauseMs: number): () => void {
  const timer = setInterval(() => hold(ms), pauseMs);
  return () => clearInterval(timer);
}

async function openHost(answerAfterMs: number | undefined) {
  const server = createServer(async (_request, response) => {
    if (answerAfterMs === undefined) return;
    await sleep(answerAfterMs);
    response.end('ok');
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
  onTestFinished(client.close);
  return (totalMs: number) => client.fetch(`http://127.0.0.1:${port}/`, { limits: { totalMs } });
}

describe('the time that a host has', () => {
  it('is not shortened by a blocked event loop', async () => {
    const ask = await openHost(200);
    const asking = ask(400);
    await sleep(50);
    hold(600);
    expect((await asking).status).toBe(200);
  });

  it('ends if the host does not answer, blocked or not', async () => {
    const ask = await openHost(undefined);
    const began = performance.now();
    const asking = ask(300);
    await sleep(50);
    hold(200);
    await expect(asking).rejects.toMatchObject({ reason: 'timeout' });
    expect(performance.now() - began).toBeGreaterThan(450);
  });

  it('does not count if we could hardly ever listen', async () => {
    const ask = await openHost(undefined);
    const stop = keepHolding(150, 20);
    await expect(ask(400)).rejects.toMatchObject({ reason: 'held_up' });
    stop();
  });

  it('ends exactly with the timer, and never after it was stopped', async () => {
    const expired: boolean[] = [];
    const stop = startDeadline(40, () => expired.push(true));
    startDeadline(400, (wasHeldUp) => expired.push(wasHeldUp));
    stop();
    await expect.poll(() => expired).toEqual([false]);
  });
});
