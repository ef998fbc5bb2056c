import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Network } from '../../src/fetching/network.ts';
import { startIntake } from '../../src/intake/intake.ts';
import { makeFolder } from '../builders.ts';
import { listen } from '../fetching/outside.ts';
import { SCRATCH } from '../scratch.ts';

interface IntakeOptions {
  isDaily?: boolean;
  now?: () => number;
  settings?: Record<string, string>;
  network?: Partial<Network> | undefined;
}

/**
 * The intake on loopback, closed after the test, with what it counted and how often it said that it has nothing to do. By its
 * clock every check begins a day after the last if `isDaily`.
 */
export async function openIntake(options: IntakeOptions = {}) {
  const SUBMISSIONS = join(makeFolder(), 'submissions.sqlite');
  const intake = await startOn({ ...options, settings: { SUBMISSIONS, ...options.settings } });
  onTestFinished(intake.close);
  return intake;
}

/** One intake for all tests of a file or group, to which every check is the first of its day. Returns what gives it. */
export function shareIntake(): () => Awaited<ReturnType<typeof startOn>> {
  let intake: Awaited<ReturnType<typeof startOn>> | undefined;
  beforeAll(async () => {
    const folder = mkdtempSync(join(SCRATCH, 'intake-'));
    intake = await startOn({ isDaily: true, settings: { SUBMISSIONS: join(folder, 'submissions.sqlite') } });
    return async () => {
      await intake?.close();
      rmSync(folder, { recursive: true, force: true });
    };
  });
  return () => {
    if (!intake) throw new Error('the intake is started before the first test, not before');
    return intake;
  };
}

async function startOn({ isDaily = false, now: clock = Date.now, settings = {}, network }: IntakeOptions) {
  const [counted, idle] = [[] as string[], [] as number[]];
  const now = isDaily ? () => counted.length * 86_400_000 : clock;
  const config = readConfig({
    BASE_URL: 'http://catalogue.example',
    PORT: '0',
    ALLOW_PRIVATE_NETWORKS: 'on',
    ...settings,
  });
  const intake = await startIntake({
    ...{ config, key: 'a key', now, network, onError: () => undefined },
    onEnd: (outcome) => counted.push(outcome),
    onIdle: () => idle.push(now()),
  });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= intake.close());
  return { url: intake.url, counted, idle, config, close };
}

/** Asks the intake for a check as JSON. */
export async function check(intake: { url: string }, question: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${intake.url}/providers/check`, {
    ...{ method: 'POST', body: JSON.stringify(question) },
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  return { status: answer.status, headers: answer.headers, json: await answer.json() };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A provider on loopback, closed after the test, with what it was asked for. */
export async function openProvider(answer: Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { origin: `http://127.0.0.1:${port}`, asked };
}
