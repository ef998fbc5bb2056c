import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { answerPages, makeItems, serveFeed } from '../importing/feed-server.ts';
import { makeCommands, startCatalogue, writeManifest } from './running.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Commands on a catalogue file of their own: `start` runs the entry point, `run` the command in this process. */
function makeEntry(settings: Record<string, string> = {}) {
  const commands = makeCommands(settings, () => new Date());
  return { ...commands, start: (...args: string[]) => startCatalogue(args, commands.environment) };
}

const ONE_SENTENCE = /^error: [^\n]+\.\nhint: [^\n]+\n$/;

describe('the entry point', () => {
  it('imports, and ends with the code of what was done and of a misspelled command', async () => {
    const { folder, start, run } = makeEntry();
    writeManifest(folder, 'alpha.yaml');
    const imported = await start('import', folder, '--json').ran;
    expect([imported.code, imported.stderr, JSON.parse(imported.stdout).listings.added]).toEqual([0, '', 1]);
    expect((await run(['list'])).stdout).toMatch(/^alpha\tlive\t/);
    expect(await start('lst').ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(ONE_SENTENCE) });
  });

  it('refuses an old Node in one line', async (context) => {
    const old = findOldNode();
    if (!old) return context.skip('no old Node: install Debian’s nodejs, or put a Node below 22 on the path');
    for (const args of [['--import', './scripts/require-node.mjs', 'scripts/catalogue.ts', 'list']]) {
      const ran = runOldNode(old, args);
      expect(ran.status).toBe(1);
      expect(ran.stderr).toMatch(/^error: This needs Node 22\.19 or newer, and this is Node \d+\.\d+\.\d+\. [^\n]*\n$/);
    }
  });
});

describe('a catalogue file that is none', () => {
  it.each([
    ['text', (file: string) => writeFileSync(file, 'Dear diary,\n'), /it is no SQLite database/],
    ['a database of something else', (file: string) => makeDatabase(file, 'CREATE TABLE songs (name TEXT)'), /songs/],
    [
      'a catalogue of newer code',
      (file: string) =>
        makeDatabase(
          file,
          "CREATE TABLE catalogue (id); CREATE TABLE kysely_migration (name); INSERT INTO kysely_migration VALUES ('999')",
        ),
      /newer/,
    ],
    [
      'a cut-off database',
      (file: string) => writeFileSync(file, `SQLite format 3\0${'\x10'.repeat(300)}`),
      /cannot be opened/,
    ],
  ])('is one sentence, and stays as it was: %s', async (_, make, message) => {
    const { folder, file, run } = makeCommands();
    make(file);
    const before = readFileSync(file);
    const manifest = writeManifest(folder, 'alpha.yaml');
    for (const args of [['list'], ['import', manifest]]) {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(ONE_SENTENCE);
      expect(stderr).toMatch(message);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe('an import that ends early', () => {
  /** Serves 210 items; the third page is held back until `release` is called. */
  async function serveHeldBack() {
    const answer = answerPages(() => makeItems(210));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolveReleased) => {
      release = resolveReleased;
    });
    let reach: () => void = () => undefined;
    const reached = new Promise<void>((resolveReached) => {
      reach = resolveReached;
    });
    const feed = await serveFeed(async (request, response, page) => {
      if (page.offset >= 150) {
        reach();
        await released;
      }
      answer(request, response, page);
    });
    return { ...feed, reached, release };
  }

  it('stops cleanly on Ctrl-C with nothing recorded, says what to do next, begins again there, also after it was killed, and ends as if it never had been', async () => {
    const { address, reached, release, offsets } = await serveHeldBack();
    const { start, run } = makeEntry({ ALLOW_PRIVATE_NETWORKS: 'on' });
    const stopped = start('import', '--bazaar', address, '--json');
    await reached;
    stopped.child.kill('SIGINT');
    const { code, stdout, stderr } = await stopped.ran;
    expect(code).toBe(1);
    expect(stderr).toContain('Stopping at the next safe point');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ complete: false, next: expect.stringMatching(/same command again/) });
    expect(report.items.received).toBe(0);
    release();

    // At any moment after it asked for its third page.
    let asked = offsets.length;
    const killed = start('import', '--bazaar', address);
    await expect.poll(() => offsets.slice(asked).some((offset) => offset >= 150), { interval: 5 }).toBe(true);
    killed.child.kill('SIGKILL');
    await killed.ran;

    asked = offsets.length;
    const again = await run(['import', '--bazaar', address, '--json']);
    expect(again.code).toBe(0);
    expect(offsets[asked]).toBe(0);
    const { listings, items } = JSON.parse(again.stdout);
    expect(listings.added + listings.unchanged).toBe(210);
    expect(items).toMatchObject({ received: 210, taken: 210, duplicates: 0 });
    const checks = JSON.parse((await run(['check', '--json'])).stdout).checks;
    expect(checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toEqual([
      'published',
      'pages',
    ]);
  });
});

function makeDatabase(file: string, statement: string): void {
  const database = new Sqlite(file);
  database.exec(statement);
  database.close();
}

function findOldNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const nodes = ['/usr/bin', '/usr/local/bin', ...folders].map((folder) => join(folder, 'node')).filter(existsSync);
  return nodes.find((node) => {
    const [major = 0, minor = 0] = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      .split('.')
      .map(Number);
    return major < 22 || (major === 22 && minor < 18);
  });
}

function runOldNode(node: string, args: string[]): { status: unknown; stderr: string } {
  try {
    execFileSync(node, args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
    return { status: 0, stderr: '' };
  } catch (error) {
    if (!(error instanceof Error && 'status' in error && 'stderr' in error)) throw error;
    return { status: error.status, stderr: String(error.stderr) };
  }
}
