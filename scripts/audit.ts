import './require-node.mjs';

const { mkdtempSync, rmSync } = await import('node:fs');
const { tmpdir } = await import('node:os');
const { join } = await import('node:path');
const { endWithFailure, readArguments } = await import('./entry.ts');
const { EXIT } = await import('../src/cli/failure.ts');
const { getBetter, listMisses } = await import('./audit/limits.ts');
const { buildPathFailure, getPages, USAGE } = await import('./audit/pages.ts');
const { buildTable } = await import('./audit/table.ts');

const { stdout, stderr } = process;
const ABOUT = `Makes a catalogue, and measures each kind of page with Lighthouse in Chromium, as on a throttled phone.

  --json        one JSON document instead of the table
  -h, --help    shows this
  -V, --version shows the version

Ends with 1 if a page scores below 100 in a category, or paints nothing for a second (FCP).`;

/** Number of times that a failing page is measured. The best counts, because a busy machine makes pages slow. */
const TRIES = 3;

/** Runs `npm run audit -- [--json] [path…]`. Returns the exit code: 1 if a page fails. */
async function run(): Promise<number> {
  const { values, positionals } = readArguments(
    { line: USAGE, about: ABOUT },
    { json: { type: 'boolean' } },
    { allowPositionals: true },
  );
  const wanted = getPages(positionals);
  // Loaded late, because these take long and a wrong command line is refused before.
  const { measurePage } = await import('./audit/lighthouse.ts');
  const { findFreePort, startAudited } = await import('./audit/service.ts');
  const { openBrowser } = await import('./browser.ts');
  const folder = mkdtempSync(join(tmpdir(), 'agent-payable-audit-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  stderr.write('Making a catalogue and its pages …\n');
  const service = await startAudited(folder, new Date());
  const debuggingPort = await findFreePort();
  const browser = await openBrowser([`--remote-debugging-port=${debuggingPort}`]);
  try {
    for (const { path } of wanted) {
      const { status } = await fetch(`${service.url}${path}`);
      if (status !== 200) throw buildPathFailure(`${path} answers ${status}, so there is no page to audit.`);
    }
    const pages = [];
    for (const [index, page] of wanted.entries()) {
      stderr.write(`Auditing ${page.path} (${index + 1} of ${wanted.length}) …\n`);
      let best = await measurePage(page, { url: service.url, debuggingPort });
      for (let tries = 1; tries < TRIES && listMisses(best).length > 0; tries += 1) {
        best = getBetter(best, await measurePage(page, { url: service.url, debuggingPort }));
      }
      pages.push(best);
    }
    const passed = pages.every((page) => listMisses(page).length === 0);
    const report = { passed, pages: pages.map((page) => ({ ...page, misses: listMisses(page) })) };
    stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : `\n${buildTable(pages)}\n`);
    return passed ? EXIT.done : EXIT.failed;
  } finally {
    await Promise.all([browser.close(), service.stop()]);
  }
}

try {
  process.exit(await run());
} catch (error) {
  endWithFailure(error);
}
