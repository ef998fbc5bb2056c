import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { publishSampled } from '../../src/catalogue/write/probed.ts';
import { judgeRounds } from '../../src/catalogue/write/rounds.ts';
import { recordSample } from '../../src/catalogue/write/samples.ts';
import { getCurrentTerms } from '../../src/evidence/terms.ts';
import { recordDeclarations } from '../../src/importing/record-declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import { terms } from '../../src/model/terms.ts';
import { PATHS } from '../../src/views/links.ts';
import { HAS_POSTGRES, startPostgres } from '../postgres.ts';
import { ask, buildGet, buildRow, compareServers, getMedian, getPercentile, type Row } from './measuring.ts';
import { getPeer, startNginxOf } from './peers.ts';
import { changeListings, waitForRevision } from './rebuilds.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';
import { buildSettings, type Run, type Server, startService } from './world.ts';

/** Servers that follow one catalogue. */
const SERVERS = 3;

/** Samples that are recorded, one in each transaction, as probers do. */
const SAMPLES = 5000;

/** Number of writes in each round whose way to the readers is timed. */
const WRITES = 10;

/** Requests of each round behind the proxy. */
const REQUESTS = 400;

/** Measures a catalogue in PostgreSQL beside one in SQLite, and several servers that follow it. */
export async function measureMachines(run: Run, listings: number): Promise<Row[]> {
  if (!HAS_POSTGRES) {
    run.tell('There is no PostgreSQL from npm for this system, so nothing is measured.');
    return [];
  }
  const postgres = await startPostgres();
  process.once('exit', () => void postgres.stop());
  try {
    const address = await postgres.createDatabase('bench');
    const home = join(run.folder, `machines-${listings}`);
    mkdirSync(home, { recursive: true });
    const rows = await measureWriting(run, listings, address, join(home, 'catalogue.sqlite'));
    return [...rows, ...(await measureServers(run, listings, address, home))];
  } finally {
    await postgres.close();
  }
}

/** Measures the same writes on both engines. */
async function measureWriting(run: Run, listings: number, address: string, file: string): Promise<Row[]> {
  const declarations = Array.from({ length: listings }, (_, index) => buildSyntheticDeclaration(index));
  const changed = declarations.map((declaration) => ({ ...declaration, tagline: `New: ${declaration.tagline}` }));
  const seconds = { sqlite: [] as number[], postgres: [] as number[] };
  for (const [engine, place] of [
    ['sqlite', file],
    ['postgres', address],
  ] as const) {
    run.tell(`Writing ${listings.toLocaleString('en')} listings and ${SAMPLES} samples into ${engine} …`);
    const catalogue = await openCatalogue(place, { identity: randomUUID(), at: new Date().toISOString() });
    for (const work of [
      () => record(catalogue, declarations),
      () => record(catalogue, changed),
      () => recordSamples(catalogue),
    ]) {
      const started = performance.now();
      await work();
      seconds[engine].push((performance.now() - started) / 1000);
    }
    await catalogue.close();
  }
  const what = ['import of new listings', 'import, all changed', `${SAMPLES} samples recorded and published`];
  return what.map((name, at) =>
    buildRow({
      ...{ listings, what: `${name}, PostgreSQL`, unit: 's', beside: 'SQLite' },
      ours: seconds.postgres[at] ?? 0,
      theirs: seconds.sqlite[at] ?? 0,
    }),
  );
}

async function record(catalogue: Catalogue, declarations: readonly Declaration[]): Promise<void> {
  const { signal } = new AbortController();
  await recordDeclarations(catalogue, declarations, { now: () => new Date(), signal });
}

async function recordSamples(catalogue: Catalogue): Promise<void> {
  const at = new Date().toISOString();
  const routes = (await listListings(catalogue)).flatMap(({ id, base_url, routes: all }) =>
    all.map((route) => ({ listing_id: id, host: new URL(base_url).origin, route })),
  );
  for (let index = 0; index < SAMPLES; index += 1) {
    const { route, ...taken } = routes[index % routes.length] as (typeof routes)[number];
    const sample: ProbeSample = {
      ...{ at, duration_ms: 80, latency_ms: 80, url: taken.host, method: route.method, status: 402 },
      ...{ outcome: 'payable', cause: null, x402_version: 2, payee_rotates: null, retry_after_seconds: null },
      terms: getCurrentTerms(route.terms).map((offer) => terms.parse(offer)),
      differences: [],
      detail: {},
    };
    await writeCatalogue(catalogue, at, (writing) =>
      recordSample(writing, { ...taken, route_id: route.id, prober: 'bench' }, sample, at),
    );
  }
  await writeCatalogue(catalogue, at, judgeRounds);
  for (;;) {
    const published = await writeCatalogue(catalogue, at, (writing) => publishSampled(writing, 100, { fresh: false }));
    if (published.length === 0) return;
  }
}

/** Measures how soon each of several servers shows a write, and how many requests they answer behind one nginx. */
async function measureServers(run: Run, listings: number, address: string, home: string): Promise<Row[]> {
  run.tell(`Starting ${SERVERS} servers …`);
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, index) => {
      const settings = buildSettings(address, join(home, `dist-${index}`));
      const env = { ...process.env, ...settings, PUBLISHED: join(home, `published-${index}.sqlite`) };
      return startService({ env }, '--no-rebuild');
    }),
  );
  const catalogue = await openCatalogue(address, { identity: '', at: '' });
  try {
    const times: number[] = [];
    for (let write = 0; write < WRITES * run.rounds; write += 1) {
      const revision = await changeListings(catalogue, 1);
      const committed = performance.now();
      await Promise.all(
        servers.map(async (server) => {
          await waitForRevision(server, revision);
          times.push(performance.now() - committed);
        }),
      );
      await sleep(20);
    }
    const visible = `from a commit until each of ${SERVERS} servers shows it`;
    return [
      buildRow({ listings, what: `${visible}, median`, unit: 'ms', ours: getMedian(times) }),
      buildRow({ listings, what: `${visible}, 99 %`, unit: 'ms', ours: getPercentile(times, 0.99) }),
      ...(await measureProxy(run, listings, servers, home)),
    ];
  } finally {
    await catalogue.close();
    await Promise.all(servers.map(({ stop }) => stop()));
  }
}

/** Compares one, two and three servers behind nginx. They share the cores of this machine with nginx and the client. */
async function measureProxy(run: Run, listings: number, servers: readonly Server[], home: string): Promise<Row[]> {
  const nginx = await getPeer('nginx', run.tell);
  if (!nginx) return [];
  const open = (count: number) => {
    const upstream = servers.slice(0, count).map(({ url }) => `server ${new URL(url).host};`);
    const configured = `upstream servers { ${upstream.join(' ')} keepalive 16; }
      server { listen 8080; location / { proxy_pass http://servers; proxy_http_version 1.1; proxy_set_header Connection ""; } }`;
    return startNginxOf(nginx, join(home, `nginx-${count}`), configured);
  };
  const one = await open(1);
  const rows: Row[] = [];
  const build = () => buildGet(`${PATHS.agentList}?limit=20&max_price_usdc=${(0.1 + Math.random()).toFixed(6)}`);
  for (let count = 2; count <= SERVERS; count += 1) {
    const many = await open(count);
    await ask(many, build());
    const compared = await compareServers({
      ...{ ours: many, theirs: one, rounds: run.rounds, requestsPerRound: REQUESTS, build },
    });
    const { cpu_ratio: _nginxOnly, ...figures } = compared;
    rows.push(buildRow({ listings, what: `lists behind nginx, ${count} servers`, beside: 'one server', ...figures }));
    await many.stop();
  }
  await one.stop();
  return rows;
}
