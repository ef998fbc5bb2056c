import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HAS_POSTGRES, type PostgresServer, run, startPostgres } from '../../scripts/postgres.ts';
import { backUpCatalogue } from '../../src/catalogue/backup.ts';
import { copyCatalogue } from '../../src/catalogue/copy.ts';
import { type Catalogue, openCatalogue, openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { findListing, listListings } from '../../src/catalogue/read/listings.ts';
import type { Tables } from '../../src/catalogue/tables.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { relistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { leaseHost, releaseHost } from '../../src/catalogue/write/hosts.ts';
import { openLedger } from '../../src/catalogue/write/payments.ts';
import { readConfig } from '../../src/config.ts';
import { getErrorMessage } from '../../src/errors.ts';
import { createApp } from '../../src/http/app.ts';
import { recordInBatches } from '../../src/importing/record-declarations.ts';
import { formatAddress, isAway } from '../../src/model/catalogue-address.ts';
import type { PreparedPayment } from '../../src/model/payment.ts';
import { getRequestHash } from '../../src/model/request.ts';
import { NO_ANSWER } from '../../src/paying/paid-call.ts';
import { runProbing } from '../../src/probing/run.ts';
import { openPublished } from '../../src/published/file.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { listPublishedFaults } from '../../src/published/integrity.ts';
import { startFollowing } from '../../src/published/live-file.ts';
import { openReading } from '../../src/published/reading.ts';
import { getPublishedState } from '../../src/published/state.ts';
import { agentChanges } from '../../src/views/changes.ts';
import { IDENTITY, makeCatalogue, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { makeWorld } from '../catalogue/evidence-world.ts';
import { makeCommands, writeManifest } from '../cli/running.ts';
import { openFaultyProxy } from '../faulty-proxy.ts';
import { ANY_CLOCK } from '../new-catalogue.ts';
import { recordPaid } from '../paid.ts';
import { sendStatus } from '../probing/market.ts';
import { openFakeHosts } from '../probing/runs.ts';
import { SITE } from '../site.ts';
import { skipWithout } from '../skipped.ts';
import { declareListings, recordDeclaration, removeListing } from '../written.ts';

let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  if (HAS_POSTGRES) server = await startPostgres();
});

afterAll(() => server?.close());

/** Stops the server as a power failure does, when it has little to recover. */
async function stopServer(): Promise<void> {
  await run(`postgres://postgres@127.0.0.1:${server.port}/postgres`, 'CHECKPOINT');
  await server.stop();
}

/** Creates a database; without options it is empty. */
function createDatabase(options = ''): Promise<string> {
  databases += 1;
  return server.createDatabase(`test_${databases}`, options);
}

const templates = new Map<string, Promise<string>>();

/** Creates a copy of the database with a catalogue that `fill` filled, which is made by the first test that asks for it. */
async function copyDatabase(name: string, fill: (catalogue: Catalogue) => Promise<void>): Promise<string> {
  const made = templates.get(name) ?? makeTemplate(name, fill);
  templates.set(name, made);
  await made;
  return createDatabase(`TEMPLATE ${name}`);
}

async function makeTemplate(name: string, fill: (catalogue: Catalogue) => Promise<void>): Promise<string> {
  const address = await server.createDatabase(name);
  const catalogue = await openCatalogue(address, { identity: IDENTITY, at: NOW }, ANY_CLOCK);
  await fill(catalogue);
  await catalogue.close();
  return address;
}

async function open(address: string): Promise<Catalogue> {
  const catalogue = await openCatalogue(address, { identity: IDENTITY, at: NOW }, ANY_CLOCK);
  onTestFinished(() => catalogue.close());
  return catalogue;
}

/** Creates a database with a new catalogue. */
const createNew = () => copyDatabase('made', async () => undefined);
const openNew = async () => open(await createNew());
const openFile = () => makeCatalogue();

function declareOne(slug: string, title = `Title of ${slug}`) {
  return makeDeclaration({
    slug,
    title,
    base_url: `https://${slug}.example-provider.com`,
    routes: [makeRoute({ path: '/v1/a', terms: [makeTerms()] }), makeRoute({ path: '/v1/Ä', terms: [makeTerms()] })],
  });
}

/** Makes an attempt to pay for a route. */
function buildAttempt(route_id: string): PreparedPayment {
  const { asset, amount, pay_to } = makeTerms();
  const request = { method: 'GET' as const, url: 'https://paid.example-provider.com/v1/a', headers: {}, body: null };
  return {
    ...{ id: '5f3a0c53-3b6e-4a0e-8d43-0000000000aa', route_id, network: 'base', scheme: 'exact', x402_version: 2 },
    ...{ asset, amount, payer: `0x${'2'.repeat(40)}`, pay_to: pay_to ?? '', nonce: `0x${'7'.repeat(64)}` },
    ...{ from_block: 1, head_at: NOW, expires_at: NOW, expires_block: null, prepared_at: NOW },
    request: { ...request, hash: getRequestHash(request) },
  };
}

/** Makes the same history in any catalogue: declared, probed, paid for, removed, put back, withdrawn. */
async function live(catalogue: Catalogue): Promise<void> {
  const world = await makeWorld(catalogue);
  for (const slug of ['zebra', 'Äpfel', 'apple', 'Zebra-2', 'ähre'].map((name) => name.normalize())) {
    const key = slug
      .normalize('NFKD')
      .replaceAll(/[^A-Za-z0-9-]/g, '')
      .toLowerCase();
    await world.declare({
      slug: key,
      base_url: `https://${key}.example-provider.com`,
      title: slug,
      provider_name: slug,
    });
  }
  for (const hours of [0, 6, 12, 18]) {
    for (const slug of ['zebra', 'apple'])
      await world.see(hours, { slug, ...(hours === 12 && { outcome: 'timeout' as const, status: null }) });
    await world.publish(hours);
  }
  const path = (await world.find('apple')).routes[0]?.path ?? '';
  await recordPaid(catalogue, 'apple', { path, id: '5f3a0c53-3b6e-4a0e-8d43-000000000001' });
  await recordPaid(catalogue, 'zebra', { path, id: '5f3a0c53-3b6e-4a0e-8d43-000000000002', status: 500 });
  const at = '2026-12-01T12:00:00.000Z';
  await removeListing(catalogue, 'ahre', { by: 'operator', reason: 'asked' }, at);
  await writeCatalogue(catalogue, at, (writing) => relistListing(writing, 'ahre', { by: 'operator' }));
  await removeListing(catalogue, 'zebra-2', { by: 'provider', reason: 'asked' }, at);
}

const openLived = async () => open(await copyDatabase('lived', live));

let lived: Buffer | undefined;

/** Opens a file with that history. */
async function openLivedFile(): Promise<Catalogue> {
  const file = join(makeFolder(), 'catalogue.sqlite');
  if (lived) writeFileSync(file, lived);
  const catalogue = await makeCatalogue(file);
  if (lived) return catalogue;
  await live(catalogue);
  lived = catalogue.engine.sqlite.serialize();
  return catalogue;
}

describe('a catalogue in PostgreSQL', () => {
  skipWithout('postgres');

  const openGerman = async () => {
    const german = await open(await createDatabase("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-DE'"));
    await live(german);
    return german;
  };

  it.each([
    ['as it comes', openLived],
    ['that sorts as Germans do', openGerman],
  ])('holds what one in SQLite does after the same history, in a database %s', async (_, openOne) => {
    const [postgres, sqlite] = [await openOne(), await openLivedFile()];
    expect(await listListings(postgres)).toEqual(await listListings(sqlite));
    expect(await readTables(postgres)).toEqual(await readTables(sqlite));
    expect(await listStaleListings(postgres)).toEqual([]);
  });

  it('is published as one in SQLite is, to the byte', async () => {
    const [postgres, sqlite] = [await openLived(), await openLivedFile()];
    const publishedFile = join(makeFolder(), 'published.sqlite');
    await publishCatalogue({ catalogueAddress: postgres.address, publishedFile, baseUrl: SITE.baseUrl }, 'test');
    const published = openPublished(publishedFile);
    onTestFinished(() => published.close());
    expect(await listPublishedFaults(sqlite, published, 'test')).toEqual([]);
    expect(await listPublishedFaults(postgres, published, 'test')).toEqual([]);
  });

  it('is copied into a file and back, and refuses to be copied over', async () => {
    const [postgres, sqlite, again] = [await openLived(), await openFile(), await openNew()];
    await copyCatalogue(postgres, sqlite);
    const copied = await copyCatalogue(sqlite, again);
    expect(copied).toMatchObject({ identity: IDENTITY, revision: await getRevision(postgres) });
    expect(await readTables(again)).toEqual(await readTables(postgres));
    await expect(copyCatalogue(sqlite, again)).rejects.toMatchObject({ code: 'conflict', reason: 'exists' });
    // Its counters go on behind what was copied.
    await declareListings(again, [declareOne('new')], '2026-12-02T12:00:00.000Z');
    expect(await findListing(again, { slug: 'new' })).toMatchObject({ state: 'live' });
  });

  it('is backed up into one file while it is in use, from which the same is published', async () => {
    const postgres = await openLived();
    const folder = makeFolder();
    const backup = await backUpCatalogue(postgres, join(folder, 'backup.sqlite'), { replace: false });
    expect(backup.revision).toBe(await getRevision(postgres));
    const publishedFile = join(folder, 'published.sqlite');
    await publishCatalogue({ catalogueAddress: backup.file, publishedFile, baseUrl: SITE.baseUrl }, 'test');
    const published = openPublished(publishedFile);
    onTestFinished(() => published.close());
    expect(await listPublishedFaults(postgres, published, 'test')).toEqual([]);
  });

  it('keeps what hostile sellers write, and loses nobody else’s rows', async () => {
    const [postgres, sqlite] = [await openNew(), await openFile()];
    const long = `https://long.example-provider.com/${'%E6%9D%B1'.repeat(1900)}`;
    const declarations = [
      declareOne('good'),
      makeDeclaration({ slug: 'long', base_url: long, title: '東'.repeat(80), provider_name: '京'.repeat(80) }),
      makeDeclaration({
        slug: 'nul',
        base_url: 'https://nul.example-provider.com',
        description: 'one\0two',
        routes: [makeRoute({ path: `/v1/\0${'京'.repeat(1900)}`, terms: [makeTerms()] })],
      }),
    ];
    for (const catalogue of [postgres, sqlite]) {
      await writeCatalogue(catalogue, NOW, (writing) => recordDeclarations(writing, declarations));
    }
    expect((await listListings(postgres)).map(({ slug }) => slug)).toEqual(['good', 'long', 'nul']);
    expect(await readTables(postgres)).toEqual(await readTables(sqlite));
  });

  it('counts its revisions without a gap while several write, some of whom break off', async () => {
    const address = await createNew();
    const writers = [];
    for (let number = 0; number < 4; number += 1) writers.push(await open(address));
    const seen: number[] = [];
    await Promise.all(
      writers.map(async (catalogue, number) => {
        for (let turn = 0; turn < 10; turn += 1) {
          const write = writeCatalogue(catalogue, NOW, async (writing) => {
            await recordDeclaration(writing, declareOne(`by-${number}`, `Edition ${turn}`));
            if (turn % 5 === 4) throw new Error('broken off');
            return writing.revision;
          });
          const revision = await write.catch(() => undefined);
          if (revision !== undefined) seen.push(revision);
        }
      }),
    );
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
    expect((await listListings(writers[0] as Catalogue)).map(({ title }) => title)).toEqual(
      Array.from({ length: 4 }, () => 'Edition 8'),
    );
  });

  it('throws where the outer catalogue is asked within a transaction, in place of waiting for ever', async () => {
    for (const catalogue of [await openNew(), await openFile()]) {
      await expect(writeCatalogue(catalogue, NOW, () => getRevision(catalogue))).rejects.toThrow(
        'within a transaction',
      );
      expect(await getRevision(catalogue)).toBe(0);
    }
  });

  it('works with every command, by its address alone', async () => {
    const address = await createDatabase();
    let days = 0;
    const {
      folder,
      run: command,
      runJson,
    } = makeCommands({ CATALOGUE: address }, () => new Date(Date.now() + days * 24.1 * 3_600_000));
    const manifest = writeManifest(folder, 'alpha.yaml');
    expect((await command(['list'])).stderr).toContain('There is no catalogue at postgres://');
    expect((await runJson('import', manifest)).json.listings).toMatchObject({ added: 1 });
    expect((await runJson('import', manifest)).json.listings).toMatchObject({ unchanged: 1 });
    const shown = { file: address, bytes: null, revision: 1 };
    expect((await runJson('status')).json).toMatchObject({ ...shown, probing: { due: 0 } });
    days = 1;
    expect((await runJson('status')).json).toMatchObject({ ...shown, probing: { due: 1 } });
    days = 0;
    expect((await command(['delist', 'alpha', '--reason', 'Gone.'])).code).toBe(0);
    expect((await command(['relist', 'alpha'])).code).toBe(0);
    expect((await command(['why', 'alpha'])).stdout).toContain('It is live');
    expect((await command(['export'])).stdout).toContain('"kind":"listing"');
    const file = join(folder, 'moved.sqlite');
    expect((await command(['copy', address, file])).stdout).toContain('Copied revision 3');
    expect(await readTables(await openForReading(file))).toEqual(await readTables(await openForReading(address)));
    const { json } = await runJson('check');
    expect(json.checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toEqual([
      'published',
      'pages',
    ]);
  });

  it('takes writes by its own clock: none of a machine that is far off it, and all others however old it is', async () => {
    const address = await createDatabase();
    let shift = 0;
    const commands = makeCommands({ CATALOGUE: address }, () => new Date(Date.now() + shift));
    const importAt = async (milliseconds: number) => {
      shift = milliseconds;
      const { code, stderr } = await commands.run([
        'import',
        writeManifest(commands.folder, `at-${milliseconds}.yaml`),
      ]);
      return code === 0 ? 'written' : stderr;
    };
    const day = 24 * 60 * 60 * 1000;
    const off = /the clock of the database says .*\nhint: Nothing was written. Set the clock that is wrong\./;
    expect(await importAt(130 * day)).toMatch(off);
    expect(await importAt(0)).toBe('written');
    expect(await importAt(130 * day)).toMatch(off);
    expect(await importAt(-2 * day)).toMatch(off);
    expect(await importAt(day / 12)).toMatch(off);
    expect(await importAt(-day / 12)).toMatch(off);
    const catalogue = await open(address);
    const date = async (milliseconds: number) => {
      const at = new Date(Date.now() + milliseconds).toISOString();
      await catalogue.query.updateTable('catalogue').set({ revised_at: at }).execute();
      await catalogue.query.updateTable('revisions').set({ at }).execute();
    };
    await date(-30 * day);
    expect(await importAt(1000)).toBe('written');
    await date(1000 * day);
    expect(await importAt(2000)).toBe('written');
  });
});

async function openForReading(address: string): Promise<Catalogue> {
  const catalogue = await openCatalogueForReading(address);
  onTestFinished(() => catalogue.close());
  return catalogue;
}

describe('a follower of PostgreSQL', () => {
  skipWithout('postgres');

  it('shows a write soon after its commit, serves what it has while the server is away, and catches up', async () => {
    const catalogue = await openNew();
    const { address } = catalogue;
    const publishedFile = join(makeFolder(), 'published.sqlite');
    const put = (slug: string) => declareListings(catalogue, [declareOne(slug)]);
    await put('one');
    const files = { catalogueAddress: address, publishedFile, baseUrl: SITE.baseUrl };
    const failures: unknown[] = [];
    const following = await startFollowing(files, 'test', (error) => failures.push(error));
    const published = openPublished(publishedFile);
    const waitFor = async (revision: number) => {
      while (getPublishedState(published).revision < revision) await sleep(5);
    };
    await put('two');
    await waitFor(2);

    await stopServer();
    await expect(put('lost')).rejects.toThrow();
    while (failures.length === 0) await sleep(20);
    expect(getErrorMessage(failures[0])).toContain('cannot be reached');
    // Another server that starts meanwhile serves what the file has.
    const later = await startFollowing(files, 'test', () => undefined);
    expect(getPublishedState(published).revision).toBe(2);

    await server.start();
    await put('three');
    await waitFor(3);
    while (following.findAge() !== undefined) await sleep(20);
    await following.close();
    await later.close();
    published.close();
    // Each reason is told once: the server goes, is away, or is starting.
    expect(new Set(failures.map(getErrorMessage)).size).toBe(failures.length);
  });

  it('counts the age from when it last heard, where the network swallows or cuts what is sent', async () => {
    const countAge = async (fault: 'swallow' | 'cut') => {
      const proxy = await openFaultyProxy(() => server.port);
      onTestFinished(() => proxy.close());
      const catalogue = await openNew();
      const put = (slug: string) => declareListings(catalogue, [declareOne(slug)]);
      await put('one');
      const files = {
        catalogueAddress: catalogue.address.replace(/:\d+\//, `:${proxy.port}/`),
        publishedFile: join(makeFolder(), 'published.sqlite'),
        baseUrl: SITE.baseUrl,
      };
      const failures: unknown[] = [];
      const following = await startFollowing(files, 'test', (error) => failures.push(error));
      expect(following.findAge()).toBeUndefined();
      proxy.set(fault);
      const since = performance.now();
      await put('two');
      while (failures.length === 0) {
        // Whatever it has not heard, it has not been told of for longer than it says by more than that.
        expect(performance.now() - since - (following.findAge() ?? 0)).toBeLessThan(5000);
        await sleep(20);
      }
      expect(following.findAge()).toBeGreaterThan(performance.now() - since - 1500);
      expect(getErrorMessage(failures[0])).toContain('cannot be reached');
      proxy.set('pass');
      while (following.findAge() !== undefined) await sleep(20);
      const published = openPublished(files.publishedFile);
      expect(getPublishedState(published).revision).toBe(2);
      // It asks again, on a new connection.
      await put('three');
      while (getPublishedState(published).revision < 3) await sleep(5);
      published.close();
      proxy.set('refuse');
      await following.close();
    };
    await Promise.all((['swallow', 'cut'] as const).map(countAge));
  });

  it('is followed into the history of a replica that took over without the last writes', async () => {
    const primary = await startPostgres();
    onTestFinished(() => primary.close());
    const address = await primary.createDatabase('followed');
    const publishedFile = join(makeFolder(), 'published.sqlite');
    const [declare, follow] = [
      (catalogue: Catalogue, slug: string, at: string) => declareListings(catalogue, [declareOne(slug)], at),
      (catalogueAddress: string) =>
        publishCatalogue({ catalogueAddress, publishedFile, baseUrl: SITE.baseUrl }, 'test'),
    ];
    const read = async (query: string) => {
      const reading = openReading(publishedFile, SITE);
      try {
        const response = await createApp({ reading }).request(`${SITE.baseUrl}/agent/changes?${query}`);
        return { status: response.status, ...((await response.json()) as { code?: string; resume_cursor?: string }) };
      } finally {
        reading.published.close();
      }
    };
    const before = await open(address);
    await declare(before, 'kept', NOW);
    await follow(address);
    const { resume_cursor: early } = await read('since=0');
    const replica = await primary.addReplica();
    onTestFinished(() => replica.close());
    await replica.stop();
    await run(address, "ALTER SYSTEM SET synchronous_standby_names = ''");
    await run(address, 'SELECT pg_reload_conf()');
    for (const slug of ['lost', 'lost-2']) await declare(before, slug, '2026-11-21T10:00:00.000Z');
    await follow(address);
    const { resume_cursor: late } = await read('since=0');
    await primary.stop();
    await replica.start();
    await replica.promote();
    const after = await open(address.replace(`:${primary.port}/`, `:${replica.port}/`));
    await follow(after.address);
    expect(await read(`since=${late}`)).toMatchObject({ status: 503, code: 'since_ahead' });
    for (const slug of ['new', 'new-2', 'new-3']) {
      await declare(after, slug, '2026-11-21T11:00:00.000Z');
      await follow(after.address);
      expect(await read(`since=${late}`)).toMatchObject({ status: 410, code: 'history_replaced' });
    }
    const { changes } = agentChanges.parse(await read(`since=${early}`));
    expect([...new Set(changes.map(({ slug }) => slug))]).toEqual(['new', 'new-2', 'new-3']);
    const published = openPublished(publishedFile);
    onTestFinished(() => published.close());
    expect(await listPublishedFaults(after, published, 'test')).toEqual([]);
  });

  it('goes on where the database ends all its connections', async () => {
    const catalogue = await openNew();
    const { address } = catalogue;
    const publishedFile = join(makeFolder(), 'published.sqlite');
    const put = (slug: string) => declareListings(catalogue, [declareOne(slug)]);
    await put('one');
    const following = await startFollowing(
      { catalogueAddress: address, publishedFile, baseUrl: SITE.baseUrl },
      'test',
      () => undefined,
    );
    const published = openPublished(publishedFile);
    for (const revision of [2, 3, 4]) {
      await run(
        address,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      // Connections of the pool may be dead already when the next writes take them.
      for (let written = false; !written; ) {
        written = await put(`edition-${revision}`).then(
          () => true,
          (error: unknown) => {
            if (!isAway(error)) throw error;
            return false;
          },
        );
      }
      while (getPublishedState(published).revision < revision) await sleep(5);
    }
    await following.close();
    published.close();
  });

  it('of a database without a catalogue, or of none, says so', async () => {
    const publishedFile = join(makeFolder(), 'published.sqlite');
    const follow = (catalogueAddress: string) =>
      publishCatalogue({ catalogueAddress, publishedFile, baseUrl: SITE.baseUrl }, 'test');
    const empty = await createDatabase();
    await expect(follow(empty)).rejects.toMatchObject({ reason: 'no_catalogue' });
    await expect(follow('postgres://nobody:secret@127.0.0.1:9/none')).rejects.toMatchObject({
      reason: 'catalogue_away',
      message: expect.not.stringContaining('secret'),
    });
    const nobody = empty.replace(/\/\/[^@]*@/, '//nobody:secret@');
    for (const address of ['postgres://nobody:secret@127.0.0.1:9/none', nobody, `${empty}_not`]) {
      const away = { reason: 'catalogue_away', message: expect.not.stringContaining('secret') };
      await expect(openCatalogueForReading(address)).rejects.toMatchObject(away);
      await expect(follow(address)).rejects.toMatchObject(away);
    }
    rmSync(publishedFile, { force: true });
    expect(existsSync(publishedFile)).toBe(false);
  });
});

describe('a write to PostgreSQL', () => {
  skipWithout('postgres');

  it('that the server ends in the middle fails whole, and the next one succeeds', async () => {
    const catalogue = await openNew();
    const { address } = catalogue;
    const killOthers = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    const write = writeCatalogue(catalogue, NOW, async (writing) => {
      await recordDeclaration(writing, declareOne('half'));
      await run(address, killOthers);
      await recordDeclaration(writing, declareOne('other-half'));
    });
    await expect(write).rejects.toThrow();
    expect(await listListings(catalogue)).toEqual([]);
    await declareListings(catalogue, [declareOne('whole')]);
    expect((await listListings(catalogue)).map(({ slug }) => slug)).toEqual(['whole']);
    expect(await getRevision(catalogue)).toBe(1);
  });
});

describe('a payment on record in PostgreSQL', () => {
  skipWithout('postgres');

  it('keeps what became of it while the server was away', async () => {
    const catalogue = await openNew();
    await declareListings(catalogue, [declareOne('paid')]);
    const { id: route_id } = (await findListing(catalogue, { slug: 'paid' }))?.routes[0] ?? { id: '' };
    const noted: string[] = [];
    const ledger = openLedger(catalogue, ({ event }) => noted.push(event.step));
    const attempt = buildAttempt(route_id);
    await ledger.prepare(attempt, { per_call: attempt.amount, per_day: attempt.amount });
    await ledger.record(attempt.id, { step: 'sent', signature: null }, NOW);
    await stopServer();
    const recorded = ledger.record(attempt.id, { step: 'answered', answer: NO_ANSWER }, NOW);
    await sleep(100);
    await server.start();
    await recorded;
    expect(await ledger.findPayment(attempt.id)).toMatchObject({ state: 'sent', ...NO_ANSWER });
    expect(noted).toEqual(['prepared', 'sent', 'answered']);
  });
});

describe('an import into PostgreSQL', () => {
  skipWithout('postgres');

  it('ends where the server is away, and calls no declaration broken for that', async () => {
    const catalogue = await openNew();
    await stopServer();
    onTestFinished(() => server.start());
    const options = { now: () => new Date(NOW), signal: new AbortController().signal };
    await expect(recordInBatches(catalogue, [declareOne('one'), declareOne('two')], options)).rejects.toSatisfy(isAway);
  });

  it('writes in turn, however many write at once and however long one takes', async () => {
    const catalogue = await openNew();
    const writes = Array.from({ length: 12 }, (_, number) =>
      writeCatalogue(catalogue, NOW, async (writing) => {
        if (number === 0) await sleep(300);
        await recordDeclaration(writing, declareOne(`at-once-${number}`));
        return writing.revision;
      }),
    );
    expect(await Promise.all(writes)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });
});

it.each([
  ['postgres://u:secret@h:5432/db', 'postgres://u:***@h:5432/db'],
  ['postgres://h/db?user=u&password=secret', 'postgres://h/db?user=u&password=***'],
  ['postgres://u:se#cret@h/db', 'postgres://…'],
  ['postgres://u:secret@h1:1,h2:2/db', 'postgres://…'],
  ['/var/lib/catalogue.sqlite', '/var/lib/catalogue.sqlite'],
])('an address is shown without its password: %s', (address, shown) => {
  expect(formatAddress(address)).toBe(shown);
});

describe('probers of one catalogue in PostgreSQL', () => {
  skipWithout('postgres');

  it('share the hosts, and no two ask one host at a time', async () => {
    const address = await createNew();
    const [first, second] = [await open(address), await open(address)];
    const hosts = await openFakeHosts(6, (response) => sendStatus(response, 500), { delayMs: 20 });
    await writeCatalogue(first, NOW, (writing) =>
      recordDeclarations(
        writing,
        hosts.hosts.map((base_url, number) =>
          makeDeclaration({
            slug: `host-${number}`,
            base_url,
            routes: ['/v1/a', '/v1/b'].map((path) => makeRoute({ path, terms: [makeTerms()] })),
          }),
        ),
      ),
    );
    const config = { ...readConfig({ BASE_URL: 'http://catalogue.example' }), allowPrivateNetworks: true };
    const probe = (catalogue: Catalogue) =>
      runProbing(
        catalogue,
        { kind: 'all', again: false },
        {
          ...{ config, now: () => new Date(), random: Math.random, signal: new AbortController().signal },
          ...{ atOnce: 3, pauseMs: 10, timeoutMs: 5000, onProgress: () => undefined },
        },
      );
    const reports = await Promise.all([probe(first), probe(second)]);
    expect(reports.map(({ complete }) => complete)).toEqual([true, true]);
    expect(hosts.getMost().perHost).toBe(1);
    const asked = hosts.listAsked().filter((url) => url.startsWith('/v1/') && !url.includes('sibling'));
    expect(asked.length).toBeGreaterThanOrEqual(12);
    const left = await first.query.selectFrom('hosts').select('host').where('leased_by', 'is not', null).execute();
    expect(left).toEqual([]);
  });

  it('leave a host to the one that took it, until its time is up', async () => {
    for (const catalogue of [await openNew(), await openFile()]) {
      const [host, at] = ['https://a.example', '2026-11-20T12:00:00.000Z'];
      const [until, later] = ['2026-11-20T12:05:00.000Z', '2026-11-20T12:10:00.000Z'];
      const take = (by: string, from: string, to: string) => leaseHost(catalogue, host, { by, at: from, until: to });
      expect(await take('one', at, until)).toBe(true);
      expect(await take('two', at, until)).toBe(false);
      expect(await take('one', at, until)).toBe(true);
      expect(await take('two', until, later)).toBe(true);
      await releaseHost(catalogue, host, 'one');
      expect(await take('one', until, later)).toBe(false);
      await releaseHost(catalogue, host, 'two');
      expect(await take('one', until, later)).toBe(true);
    }
  });
});

/** Reads the rows of every table, in an order that is the same in each engine. */
async function readTables({ query }: Catalogue): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const { name } of await query.introspection.getTables()) {
    const read = await query
      .selectFrom(name as keyof Tables)
      .selectAll()
      .execute();
    rows[name] = read.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
  }
  return rows;
}
