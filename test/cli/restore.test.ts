import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openAlone } from '../../src/catalogue/sqlite-file.ts';
import { makeCommands, startCatalogue, writeManifest } from './running.ts';

/** A catalogue of two listings, its backup, and one listing less since. */
async function makeBackedUp() {
  const commands = makeCommands();
  const names = ['alpha.yaml', 'beta.yaml'];
  await commands.run(['import', ...names.map((name) => writeManifest(commands.folder, name))]);
  const backup = join(commands.folder, 'backup.sqlite');
  await commands.run(['backup', backup]);
  await commands.run(['delist', 'beta', '--reason', 'Gone']);
  return { ...commands, backup };
}

const countLive = async ({ runJson }: Pick<ReturnType<typeof makeCommands>, 'runJson'>) =>
  (await runJson('status')).json.listings.live;

const listFiles = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('catalogue'));

/** Spoils pages in the middle of a file. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, bytes.length / 2, bytes.length / 2 + 4096 * 4);
  writeFileSync(file, bytes);
}

function makeOther(file: string): void {
  rmSync(file);
  const other = new Sqlite(file);
  other.exec('CREATE TABLE diary (day TEXT)');
  other.close();
}

describe('restore', () => {
  it('puts the backup in place as another catalogue, and keeps the one of before', async () => {
    const { folder, file, backup, run, runJson } = await makeBackedUp();
    const before = (await runJson('status')).json;
    const { code, json } = await runJson('restore', backup);
    const kept = `${file}.until-20261120T120000000Z`;
    expect(code).toBe(0);
    expect(json).toMatchObject({ file, bytes: statSync(file).size, revision: 2, kept });
    expect(json.identity).not.toBe(before.identity);
    expect((await runJson('status')).json).toMatchObject({ identity: json.identity, revision: 2 });
    expect(await countLive({ runJson })).toBe(2);
    expect(await countLive(makeCommands({ CATALOGUE: kept }))).toBe(1);
    expect((await run(['check'])).stdout).toMatch(/^ok database: /m);
    expect(listFiles(folder).filter((name) => /restored|partial/.test(name))).toEqual([]);
  });

  it('makes a catalogue where there is none, and says what it did', async () => {
    const { backup } = await makeBackedUp();
    const { file, run, runJson } = makeCommands();
    expect(await run(['restore', backup])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^Restored ${file} .*, now at revision 2. It is checked, and sound.\n$`),
    });
    expect(await countLive({ runJson })).toBe(2);
  });

  it('replaces one that is too damaged to be read, and keeps that, too', async () => {
    const { folder, file, backup, runJson } = await makeBackedUp();
    const bytes = readFileSync(file).fill(0xa5, 0, 4096);
    writeFileSync(file, bytes);
    writeFileSync(`${file}-wal`, 'of before');
    const { code, json } = await runJson('restore', backup);
    expect(listFiles(folder)).not.toContain('catalogue.sqlite-wal');
    expect([code, await countLive({ runJson })]).toEqual([0, 2]);
    expect(readFileSync(json.kept)).toEqual(bytes);
  });

  it.each([
    ['a damaged backup', /is not sound: .*earlier backup/s, (backup: string) => damage(backup)],
    ['what is no database', /is no SQLite database/, (backup: string) => writeFileSync(backup, 'Dear diary,')],
    ['a database of something else', /is a database of something else/, (backup: string) => makeOther(backup)],
    ['an empty file', /is no catalogue/, (backup: string) => writeFileSync(backup, '')],
    ['what is not there', /is not there/, (backup: string) => rmSync(backup)],
    [
      'the catalogue itself',
      /is the catalogue itself/,
      (backup: string, file: string) => [rmSync(backup), linkSync(file, backup)],
    ],
  ])('refuses %s, and changes nothing', async (_, says, spoil) => {
    const { folder, file, backup, run, runJson } = await makeBackedUp();
    spoil(backup, file);
    const { code, stderr } = await run(['restore', backup]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*\.\nhint: .*\.\n$/)]);
    expect(stderr).toMatch(says);
    expect(await countLive({ runJson })).toBe(1);
    expect(listFiles(folder).filter((name) => !/^catalogue\.sqlite(-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it('refuses while a process has the catalogue open, and says what to stop', async () => {
    const { folder, file, backup, run, runJson } = await makeBackedUp();
    const writer = fork(resolve(import.meta.dirname, '../catalogue/busy-writer.ts'), [file], { execArgv: [] });
    await once(writer, 'message');
    const { code, stderr } = await run(['restore', backup]);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is in use\.\nhint: Stop the server, the prober/)]);
    expect(listFiles(folder).filter((name) => /until|restored/.test(name))).toEqual([]);
    // Killed, it has nothing open any more, and left a journal.
    expect((await runJson('restore', backup)).code).toBe(0);
  });

  it('lets nobody who comes meanwhile use the file of before', async () => {
    const { folder, file, environment, backup } = await makeBackedUp();
    const held = openAlone(file);
    const { child, ran } = startCatalogue(['delist', 'alpha', '--reason', 'Late'], environment);
    const isOpen = () =>
      readdirSync(`/proc/${child.pid}/fd`).some((fd) => {
        try {
          return readlinkSync(`/proc/${child.pid}/fd/${fd}`) === file;
        } catch {
          return false; // It was closed in the meantime.
        }
      });
    while (!isOpen()) await sleep(10);
    renameSync(file, join(folder, 'before.sqlite'));
    copyFileSync(backup, file);
    held?.close();
    expect(await ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/was replaced while it was opened/) });
    expect(await countLive(makeCommands({ CATALOGUE: join(folder, 'before.sqlite') }))).toBe(1);
  });

  it('says for PostgreSQL how it is done there', async () => {
    const { backup } = await makeBackedUp();
    const { code, stderr } = await makeCommands({ CATALOGUE: 'postgres://nobody@localhost/none' }).run([
      'restore',
      backup,
    ]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/hint: Create an empty database, run "copy /)]);
  });
});
