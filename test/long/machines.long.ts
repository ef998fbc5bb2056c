import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, getAddress, http } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { buildSettings } from '../../scripts/bench/world.ts';
import { startBaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { run, startPostgres } from '../../scripts/postgres.ts';
import { openCatalogue, openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import { getRevision } from '../../src/catalogue/transaction.ts';
import { USDC_ABI } from '../../src/paying/evm/node.ts';
import { openPublished } from '../../src/published/file.ts';
import { listPublishedFaults } from '../../src/published/integrity.ts';
import { getPublishedState } from '../../src/published/state.ts';
import { getCodeVersion } from '../../src/site/page-code.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute, makeTerms } from '../builders.ts';
import { startCatalogue, writeManifest } from '../cli/running.ts';
import { openFaultyProxy } from '../faulty-proxy.ts';
import { deliver, PAY_TO, serveSeller } from '../paying/paying.ts';
import type { HostKind } from '../probing/fake-hosts/behaviours.ts';
import { declareFakeHosts, openFakeHostProcess } from '../probing/fake-hosts/fake-hosts.ts';
import { skipWithout } from '../skipped.ts';
import { declareListings } from '../written.ts';
import { openCountLedger } from './soak/counts.ts';
import { openStalenessLedger } from './staleness.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** `MACHINES_MINUTES` makes it shorter. */
const MINUTES = Number(process.env.MACHINES_MINUTES ?? 15);

const SIDECARS = 3;
const LISTINGS_OF_IMPORTER = 40;
const KINDS: HostKind[] = [
  'mixed',
  'mixed',
  'mixed',
  'mixed',
  'wildcard',
  'hanging',
  'closed',
  'mixed',
  'robots',
  'mixed',
];
const READERS = 3;
const REST_MS = 40;

/** What a call costs, and the most that may be spent in a day: less than the payer would spend. Atomic USDC. */
const PRICE = 1000;
const CAP = 40_000;

/** How long a process lives before it is killed, how often the database fails, and for how long, at least and at most, in milliseconds. */
const LIFE_MS = [10_000, 40_000] as const;
const DATABASE_MS = [30_000, 70_000] as const;
const AWAY_MS = [500, 8000] as const;

/** How the database fails; the last is that it is lost, and its replica takes over. */
const FAULTS = ['stop', 'refuse', 'swallow', 'cut', 'freeze', 'replace'] as const;

/** How much staler an answer may be than it says, in seconds. */
const UNTOLD_SECONDS = 5;

/** How often the latest revision is looked at, in milliseconds. */
const LOOK_MS = 50;

/** Share of commands that are killed before their end. */
const KILLED = 0.3;

const PATHS = [
  '/agent/list?limit=5',
  '/openapi.json',
  '/llms.txt',
  '/agent/changes?since=0&limit=5',
  '/agent/list?q=quote',
];

/** The failures that a command may have: the database is away, or another payment is open. */
const EXCUSED = /"reason": "(?:catalogue_away|stopped|payment_open|cap_per_day|rpc_failed|wallet_busy|daily_cap)"/;

it(
  `three servers, two importers, two probers and a payer share one PostgreSQL for ${MINUTES} minutes, and are killed`,
  async (context) => {
    skipWithout('postgres', context);
    // The pages of the servers, which are of the code and of no catalogue.
    execFileSync(process.execPath, ['scripts/compile.ts'], { cwd: ROOT, stdio: 'ignore' });
    const seed = Date.now() % 1_000_000;
    const random = createRandom(seed);
    const between = ([from, to]: readonly [number, number]) => from + random() * (to - from);
    const folder = makeFolder();
    let server = await startPostgres();
    const opened = [server];
    onTestFinished(() => Promise.all(opened.map((one) => one.close())).then(() => undefined));
    // Servers are cut off from the database by a network of their own; all others reach whatever takes writes now.
    const [network, direct] = [await openFaultyProxy(() => server.port), await openFaultyProxy(() => server.port)];
    onTestFinished(() => Promise.all([network.close(), direct.close()]).then(() => undefined));
    const own = await server.createDatabase('shared');
    const through = ({ port }: { port: number }) => own.replace(/:\d+\//, `:${port}/`);
    const address = through(direct);
    let replica = await server.addReplica();
    opened.push(replica);

    // Who is probed, and who is paid.
    const fakeHosts = await openFakeHostProcess(KINDS, 8);
    await declareFakeHosts(address, fakeHosts);
    // The chain goes on while nobody pays: a payer refuses one that seems to have stopped.
    const chain = await startBaseChain({ blockSeconds: 2 });
    onTestFinished(() => chain.stop());
    const privateKey = generatePrivateKey();
    const payer = privateKeyToAddress(privateKey);
    await chain.fund(payer, 10_000_000n);
    const seller = await serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
    const setup = await openCatalogue(address, { identity: IDENTITY, at: new Date().toISOString() });
    await declareListings(
      setup,
      [
        makeDeclaration({
          slug: 'seller',
          base_url: seller,
          routes: [makeRoute({ path: '/v1/quote', terms: [makeTerms({ pay_to: PAY_TO, amount: PRICE })] })],
        }),
      ],
      new Date().toISOString(),
    );
    await setup.close();

    const settings = { BASE_URL: 'https://apis.example', CATALOGUE: address, ALLOW_PRIVATE_NETWORKS: 'on' };
    let end = performance.now() + MINUTES * 60_000;
    onTestFinished(() => {
      end = 0;
    });
    const isOver = () => performance.now() >= end;
    const rest = async (ms: number) => {
      for (const until = performance.now() + ms; performance.now() < until && !isOver(); ) await sleep(50);
    };
    const count = { requests: 0, killed: 0, lost: 0, restarts: 0, commands: 0, imports: 0, samples: 0, payments: 0 };
    const wrong: string[] = [];

    // The database. A server that never had the catalogue has nothing to serve without it, so the first fault waits for all.
    const firstStarts = Array.from({ length: SIDECARS }, () => Promise.withResolvers<void>());
    const restart = async () => {
      await Promise.all(firstStarts.map(({ promise }) => promise));
      while (!isOver()) {
        await rest(between(DATABASE_MS));
        if (isOver()) break;
        const fault = FAULTS[count.restarts % FAULTS.length] ?? 'stop';
        count.restarts += 1;
        if (fault === 'replace') {
          await server.stop('SIGKILL');
          await sleep(between(AWAY_MS));
          await replica.promote();
          server = replica;
          replica = await server.addReplica();
          opened.push(replica);
          continue;
        }
        if (fault === 'stop') await server.stop();
        else if (fault === 'freeze') server.freeze(true);
        else network.set(fault);
        await sleep(between(AWAY_MS));
        if (fault === 'stop') await server.start();
        else if (fault === 'freeze') server.freeze(false);
        else network.set('pass');
      }
    };

    // When each revision was there, at the latest.
    const staleness = openStalenessLedger();
    let untold = 0;
    let slowest = 0;
    const note = async () => {
      while (!isOver()) {
        await sleep(LOOK_MS);
        const [state] = await run(address, 'SELECT revision FROM catalogue').catch(() => []);
        const at = performance.now();
        const revision = Number(state?.revision ?? 0);
        for (let next = staleness.getLatest() + 1; next <= revision; next += 1) staleness.committed(next, at);
      }
    };

    // Servers, each with a published file of its own.
    const counts = openCountLedger();
    const lasts = new Array<number>(SIDECARS).fill(0);
    const sidecars: ({ url: string; child: ChildProcess } | undefined)[] = [];
    const open = (index: number, from = through(network)) => startSidecar(join(folder, `sidecar-${index}`), from);
    const keep = async (index: number) => {
      for (let life = 1; !isOver(); life += 1) {
        // Each fifth time the name of the database does not resolve, so that it has only what it had.
        const isLost = life % 5 === 0;
        const sidecar = await (isLost ? open(index, own.replace('127.0.0.1', 'database.invalid')) : open(index));
        if (isLost) count.lost += 1;
        sidecars[index] = sidecar;
        firstStarts[index]?.resolve();
        await rest(between(isLost ? AWAY_MS : LIFE_MS));
        sidecars[index] = undefined;
        sidecar.child.kill('SIGKILL');
        count.killed += 1;
      }
    };
    const read = async () => {
      while (!isOver()) {
        await sleep(REST_MS);
        const index = Math.floor(random() * SIDECARS);
        const sidecar = sidecars[index];
        if (!sidecar) continue;
        const path = PATHS[Math.floor(random() * PATHS.length)] ?? '/';
        const before = lasts[index] ?? 0;
        // An answer is made after it was asked for; when, the reader cannot see, and its way here is no age of the catalogue.
        const asked = performance.now();
        try {
          const response = await fetch(`${sidecar.url}${path}`);
          const text = await response.text();
          count.requests += 1;
          if (!response.ok) wrong.push(`${path} of ${index}: ${response.status}`);
          const header = response.headers.get('x-catalogue-revision');
          counts.record(`${index} ${path}`, header, text);
          if (header === null) continue;
          const revision = Number(header);
          const age = Number(response.headers.get('x-catalogue-age') ?? 0);
          const stale = staleness.measure(revision, asked) / 1000 - age;
          untold = Math.max(untold, stale);
          slowest = Math.max(slowest, (performance.now() - asked) / 1000);
          if (stale > UNTOLD_SECONDS) wrong.push(`${path} of ${index}: ${stale} s staler than it says`);
          if (revision < before) wrong.push(`${path} of ${index}: revision ${revision} after ${before}`);
          lasts[index] = Math.max(lasts[index] ?? 0, revision);
        } catch (error) {
          if (sidecars[index] === sidecar) wrong.push(`${path} of ${index}: ${error}`);
        }
      }
    };

    // Commands, some of which are killed.
    const command = async (args: string[], environment: Record<string, string> = {}) => {
      const { child, ran } = startCatalogue([...args, '--json'], { ...settings, ...environment });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      const isKilled = random() < KILLED;
      const killing = setTimeout(() => child.kill('SIGKILL'), isKilled ? 700 + random() * 4000 : 120_000);
      const { code, stdout, stderr } = await ran;
      clearTimeout(killing);
      count.commands += 1;
      if (child.signalCode === 'SIGKILL') count.killed += 1;
      // A probe that leaves hosts to the other prober ends with 1, too.
      else if (code !== 0 && stdout.includes('"error"') && !EXCUSED.test(stdout))
        wrong.push(`${args.join(' ')}: ${code} ${stdout} ${stderr}`);
      return code === 0;
    };
    const done = [0, 0];
    const importAgain = async (importer: 0 | 1) => {
      for (let round = 1; !isOver(); round += 1) {
        const from = join(folder, `manifests-${importer}-${round}`);
        mkdirSync(from);
        for (let index = 0; index < LISTINGS_OF_IMPORTER; index += 1) {
          writeManifest(from, `imported-${importer}-${index}.yaml`, { tagline: `Things of round ${round}.` });
        }
        if (await command(['import', from])) {
          done[importer] = round;
          count.imports += 1;
        }
      }
    };
    const probe = async () => {
      while (!isOver()) {
        await command(['probe', '--all', '--again', '--at-once', '8', '--pause', '20', '--timeout', '1000']);
      }
    };
    const pay = async () => {
      const wallet = {
        PAYER_FOLDER: join(folder, 'payer'),
        EVM_RPC_URL: chain.rpcUrl,
        PAYER_EVM_PRIVATE_KEY: privateKey,
        MAX_USDC_PER_DAY: String(CAP / 1_000_000),
      };
      while (!isOver()) {
        await command(['verify', 'seller', '--route', 'GET /v1/quote', '--pay'], wallet);
        await rest(2000);
      }
      // What was left open is asked of the chain.
      await sleep(1000);
      await startCatalogue(['receipts', 'reconcile'], { ...settings, ...wallet }).ran;
    };

    await Promise.all([
      restart(),
      note(),
      ...Array.from({ length: SIDECARS }, (_, index) => keep(index)),
      ...Array.from({ length: READERS }, read),
      importAgain(0),
      importAgain(1),
      probe(),
      probe(),
      pay(),
    ]);

    const catalogue = await openCatalogueForReading(address);
    onTestFinished(() => catalogue.close());
    const revision = await getRevision(catalogue);
    const revisions = await run(address, 'SELECT count(*) AS count FROM revisions WHERE revision > 0');
    count.samples = Number((await run(address, 'SELECT count(*) AS count FROM samples'))[0]?.count);
    const payments = await listPayments(catalogue, 100_000);
    count.payments = payments.length;
    console.info({ seed, revision, compared: counts.compared.size, untold, slowest, ...count });

    expect(wrong.slice(0, 5)).toEqual([]);
    expect(counts.wrong.slice(0, 5)).toEqual([]);
    expect(Number(revisions[0]?.count)).toBe(revision);
    // A killed import may have gone further than the last one that ended.
    for (const importer of [0, 1] as const) {
      for (let index = 0; index < LISTINGS_OF_IMPORTER; index += 1) {
        const listing = await findListing(catalogue, { slug: `imported-${importer}-${index}` });
        const round = Number(/round (\d+)/.exec(listing?.tagline ?? '')?.[1] ?? 0);
        expect(round, listing?.slug).toBeGreaterThanOrEqual(done[importer] ?? 0);
      }
    }
    const client = createPublicClient({ transport: http(chain.rpcUrl) });
    const used = await client.getContractEvents({
      ...{ address: getAddress(TOKEN_ADDRESS), abi: USDC_ABI, fromBlock: 0n, strict: true },
      ...{ eventName: 'AuthorizationUsed', args: { authorizer: payer } },
    });
    const settled = payments.filter(({ state }) => state === 'settled').map(({ nonce }) => nonce);
    expect(settled.toSorted()).toEqual(used.map(({ args }) => args.nonce as string).toSorted());
    expect(used.length).toBeGreaterThan(0);
    expect(payments.filter(({ state }) => state === 'prepared' || state === 'sent')).toEqual([]);
    expect(used.length * PRICE).toBeLessThanOrEqual(CAP);
    expect(await listStaleListings(catalogue)).toEqual([]);

    for (let index = 0; index < SIDECARS; index += 1) {
      const last = await open(index);
      const published = openPublished(join(folder, `sidecar-${index}`, 'published.sqlite'));
      while (getPublishedState(published).revision < revision) await sleep(20);
      expect(await listPublishedFaults(catalogue, published, getCodeVersion())).toEqual([]);
      published.close();
      last.child.kill('SIGKILL');
    }
    // It proves nothing where nobody was killed and nothing compared.
    expect(count.restarts).toBeGreaterThan(MINUTES / 3);
    expect(count.killed).toBeGreaterThan(MINUTES);
    expect(count.lost).toBeGreaterThan(MINUTES / 6);
    expect(counts.compared.size).toBeGreaterThan(MINUTES);
  },
  (MINUTES + 10) * 60_000,
);

/** Starts a server on a published file of its own. Resolves when it listens. */
async function startSidecar(folder: string, address: string): Promise<{ url: string; child: ChildProcess }> {
  mkdirSync(folder, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    ...buildSettings(address, join(folder, 'site')),
    PUBLISHED: join(folder, 'published.sqlite'),
  };
  const flags = ['--max-semi-space-size=8', '--import', './scripts/require-node.mjs'];
  const child = spawn(process.execPath, [...flags, 'scripts/serve.ts', '--no-rebuild'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const { promise, resolve: listen, reject } = Promise.withResolvers<string>();
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const url = /listens on (http:\S+)\. /.exec(output)?.[1];
    if (url) listen(url);
  });
  child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened: ${output}`)));
  return { url: await promise, child };
}
