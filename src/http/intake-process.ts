import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Config, readEnvironment, withoutSecrets } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { tryReadQueue } from '../submissions/queue.ts';
import { endChild, FLAGS, followChild } from './child-process.ts';

const INTAKE_PROCESS = join(import.meta.dirname, '../intake/process.ts');

/**
 * The only message to the intake: its settings, without the address of the catalogue, and the key with which it hashes clients'
 * addresses.
 */
export interface IntakeRequest {
  readonly config: Omit<Config, 'catalogueAddress'>;
  readonly key: string;
}

/**
 * A message of the intake, of one of four kinds: its URL; a check that ended or was refused, with its time in milliseconds; idle;
 * a fault.
 */
const intakeMessage = z
  .object({
    url: z.string().regex(/^http:\/\/127\.0\.0\.1:\d+$/),
    outcome: z.enum(['done', 'bad_address', 'rate_limited', 'domain_limit', 'domain_busy', 'queue_full']),
    ms: z.number(),
    idle: z.literal(true),
    fault: z.string(),
  })
  .partial();
export type IntakeMessage = z.infer<typeof intakeMessage>;

/** Longest time for the intake to start, and pause after it ended by itself, in milliseconds. */
const START_MS = 15_000;
const PAUSE_MS = 5_000;

/** The intake reads documents of strangers, which may take much memory. Its own limit ends it before other processes run out. */
const INTAKE_FLAGS = [...FLAGS, '--max-old-space-size=384'];

/**
 * Calls `work` with the URL of the intake, which keeps running until `work` has ended. The URL is undefined if the intake cannot
 * be reached.
 */
export type UseIntake = <Result>(work: (url: string | undefined) => Promise<Result>) => Promise<Result>;

/**
 * Runs the intake in a child process from its first use until it has been idle for ten minutes. The process gets neither the
 * address of the catalogue nor settings of a wallet. `count` gets each check that it did or refused. `stop` resolves when no
 * child is left.
 */
export function openIntake({
  config: { catalogueAddress: _, ...config },
  logger,
  count,
}: {
  config: Config;
  logger: Logger;
  count?: ServiceMetrics['countCheck'] | undefined;
}): { use: UseIntake; stop: () => Promise<void> } {
  const key = randomBytes(32).toString('base64url');
  const children = new Map<ChildProcess, Promise<unknown>>();
  let current: { child: ChildProcess; url: Promise<string | undefined> } | undefined;
  let uses = 0;
  let pausedUntil = 0;

  const release = () => {
    if (current) endChild(current.child);
    current = undefined;
  };

  const start = () => {
    const child = fork(INTAKE_PROCESS, {
      execArgv: INTAKE_FLAGS,
      env: withoutSecrets(readEnvironment()),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { promise: url, resolve } = Promise.withResolvers<string | undefined>();
    const late = setTimeout(() => endChild(child), START_MS);
    const ended = followChild(child, logger, 'the intake').then((code) => {
      clearTimeout(late);
      resolve(undefined);
      children.delete(child);
      // The child was ended on purpose.
      if (current?.child !== child) return;
      current = undefined;
      pausedUntil = performance.now() + PAUSE_MS;
      logger.error({ code }, 'the intake ended by itself');
      setTimeout(startForReceived, PAUSE_MS).unref();
    });
    children.set(child, ended);
    child.on('message', (sent) => {
      const { url: address, outcome, ms, idle, fault } = intakeMessage.safeParse(sent).data ?? {};
      if (address !== undefined) {
        clearTimeout(late);
        resolve(address);
      }
      if (outcome !== undefined) count?.(outcome, ms);
      if (fault !== undefined) logger.error({ text: fault }, 'the intake failed');
      if (idle && uses === 0 && current?.child === child) release();
    });
    // A process that could not be started has no channel.
    child.send?.({ config, key } satisfies IntakeRequest);
    return { child, url };
  };

  /** Starts the intake if a submission waits for its outcome, which only the intake can find. */
  const startForReceived = () => {
    const received = tryReadQueue(config.submissionsFile, (queue) => queue.listWaiting(1));
    if (received.length > 0 && performance.now() >= pausedUntil) current ??= start();
  };
  startForReceived();

  return {
    async use(work) {
      uses += 1;
      try {
        if (!current && performance.now() >= pausedUntil) current = start();
        return await work(await current?.url);
      } finally {
        uses -= 1;
      }
    },
    async stop() {
      pausedUntil = Number.POSITIVE_INFINITY;
      release();
      await Promise.all(children.values());
    },
  };
}
