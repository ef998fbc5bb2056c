import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { startDeadline } from '../../src/fetching/deadline.ts';
import { listen } from './outside.ts';

/** Keeps the event loop from anything else. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Holds the loop again and again until stopped, with so much time between. */
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
  it('is no less for our being held up in it', async () => {
    const ask = await openHost(200);
    const asking = ask(400);
    await sleep(50);
    hold(600);
    expect((await asking).status).toBe(200);
  });

  it('ends for one that does not answer, held up or not', async () => {
    const ask = await openHost(undefined);
    const began = performance.now();
    const asking = ask(300);
    await sleep(50);
    hold(200);
    await expect(asking).rejects.toMatchObject({ reason: 'timeout' });
    expect(performance.now() - began).toBeGreaterThan(450);
  });

  it('is nothing to count where we hardly ever listened', async () => {
    const ask = await openHost(undefined);
    const stop = keepHolding(150, 20);
    await expect(ask(400)).rejects.toMatchObject({ reason: 'held_up' });
    stop();
  });

  it('passes at once with the timer, and never after it was stopped', async () => {
    const expired: boolean[] = [];
    const stop = startDeadline(40, () => expired.push(true));
    startDeadline(30, (wasHeldUp) => expired.push(wasHeldUp));
    stop();
    await sleep(150);
    expect(expired).toEqual([false]);
  });
});
