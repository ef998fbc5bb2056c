import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type Catalogue, openCatalogue } from '../../../src/catalogue/database.ts';
import { writeCatalogue } from '../../../src/catalogue/transaction.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms, NOW } from '../../records.ts';
import { recordDeclaration } from '../../written.ts';
import { PAYEE } from '../../x402/challenges.ts';
import { BEHAVIOURS, BY_HOST, type HostKind } from './behaviours.ts';

/** A route of a fake host: its address, and the outcome that a probe must get. */
export interface FakeRoute {
  url: string;
  path: string;
  outcome: string;
  /** Null also if the system's error code is not compared. */
  cause: string | null;
}

export interface FakeHost {
  kind: HostKind;
  base_url: string;
  routes: FakeRoute[];
}

/** Hosts in a process of their own. */
export interface FakeHostProcess {
  hosts: FakeHost[];
  /** Returns how often each address was asked so far. */
  countAsked: () => Promise<Map<string, number>>;
}

/** Opens hosts on loopback with `routes` routes each, closed after the test. */
export async function openFakeHostProcess(kinds: readonly HostKind[], routes: number): Promise<FakeHostProcess> {
  const child = fork(resolve(import.meta.dirname, 'process.ts'), kinds, { execArgv: [], stdio: 'inherit' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [told] = await once(child, 'message');
  const { ports } = z.object({ ports: z.array(z.int()) }).parse(told);
  const names = Object.keys(BEHAVIOURS);
  const hosts = kinds.map((kind, index): FakeHost => {
    const base_url = `${kind === 'not_tls' ? 'https' : 'http'}://127.0.0.1:${ports[index]}`;
    return {
      kind,
      base_url,
      routes: Array.from({ length: routes }, (_, number) => {
        const name = names[(index * routes + number) % names.length] ?? '';
        const path = `/v1/${name}/${number}`;
        const { outcome, cause } = BY_HOST[kind] ?? BEHAVIOURS[name] ?? { outcome: 'unknown', cause: null };
        return { url: `${base_url}${path}`, path, outcome, cause };
      }),
    };
  });
  return {
    hosts,
    countAsked: async () => {
      child.send('count');
      const [answer] = await once(child, 'message');
      return new Map(Object.entries(z.object({ asked: z.record(z.string(), z.int()) }).parse(answer).asked));
    },
  };
}

/** Lists fake hosts in a new catalogue file, each as one listing with its price. */
export async function declareFakeHosts(file: string, { hosts }: FakeHostProcess): Promise<void> {
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: NOW });
  const terms = [makeTerms({ amount: 10_000, pay_to: PAYEE.toLowerCase() })];
  const declarations = hosts.map(({ kind, base_url, routes }, index) =>
    makeDeclaration({
      slug: `${kind.replaceAll('_', '-')}-${index}`,
      base_url,
      title: `Host ${index}`,
      routes: routes.map(({ path }) => makeRoute({ path, terms })),
    }),
  );
  await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    for (const declaration of declarations) await recordDeclaration(writing, declaration);
  });
  await catalogue.close();
}

/** Lists every sample on record, in the order they were taken. */
export function listTaken({
  engine: { sqlite },
}: Pick<Catalogue, 'engine'>): { url: string; outcome: string; cause: string | null }[] {
  return sqlite
    .prepare<[], { url: string; outcome: string; cause: string | null }>(
      `SELECT listings.base_url || routes.path AS url, outcome, cause FROM samples
       JOIN routes ON routes.id = samples.route_id JOIN listings ON listings.id = samples.listing_id ORDER BY samples.id`,
    )
    .all();
}

/** How many wrong routes are reported. */
const TOLD = 20;

/** Lists the first routes that were not probed exactly once, or got a wrong outcome. */
export function listWrong({ hosts }: FakeHostProcess, taken: ReturnType<typeof listTaken>): string[] {
  const byUrl = Map.groupBy(taken, ({ url }) => url);
  const wrong = hosts.flatMap(({ kind, routes }) =>
    routes.flatMap(({ url, outcome, cause }) => {
      const samples = byUrl.get(url) ?? [];
      const [sample] = samples;
      const isRight = sample?.outcome === outcome && (kind === 'not_tls' || sample.cause === cause);
      if (samples.length === 1 && isRight) return [];
      const seen = samples.map((one) => `${one.outcome} (${one.cause})`).join(' and ');
      return [`${url} of a ${kind} host is ${outcome} (${cause}), and was: ${seen || 'not probed'}`];
    }),
  );
  return wrong.length > TOLD ? [...wrong.slice(0, TOLD), `${wrong.length - TOLD} more`] : wrong;
}

/** Peak memory of a process, in megabytes (`VmHWM`); the last known value if it has ended. */
export async function watchMemory(pid: number | undefined, ended: Promise<unknown>): Promise<number> {
  let peak = 0;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
    } catch (error) {
      // It has just ended; the last value is its peak.
      if (!(error instanceof Error && 'code' in error && /^(ENOENT|ESRCH)$/.test(String(error.code)))) throw error;
    }
    await sleep(100);
  }
  return peak;
}
