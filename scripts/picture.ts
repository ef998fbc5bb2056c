import './require-node.mjs';

const { spawn } = await import('node:child_process');
const { once } = (await import('node:events')).default;
const { readFile, writeFile } = await import('node:fs/promises');
const { createServer } = await import('node:net');
const { join } = await import('node:path');
const { setTimeout: wait } = await import('node:timers/promises');
const { endWithFailure, readArguments } = await import('./entry.ts');
const { ServiceError } = await import('../src/errors.ts');

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, '.github');
const TEXT = join(FOLDER, 'listing.json');

/** The picture of the README, and the page of the demonstration that it shows. */
const PICTURE = 'listing.webp';
const PAGE = '/api/small-text-tools';

const USAGE = {
  line: 'npm run picture -- [--check]',
  about: `Takes the picture of the README from a page of the demonstration, and writes what that page says beside it.

  --check       takes none; ends with 1 where the page says something else than in the picture
  -h, --help    shows this
  -V, --version shows the version`,
};

/** Texts that differ between demonstrations: ports, keys, hashes and ids, times, and how long something took. */
const CHANCE =
  /(?<=127\.0\.0\.1):\d+|0x[\da-f]{4,}|\b[1-9A-HJ-NP-Za-km-z]{32,}|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\d|\b\d\d:\d\d(?::\d\d)?\b|\b[\d.]+ m?s\b/g;

async function run(): Promise<void> {
  const { values } = readArguments(USAGE, { check: { type: 'boolean' } });
  const demo = await openDemo();
  try {
    const text = await readPage(demo.url);
    if (values.check) return await refuseOther(text);
    await takePicture(demo.url);
    await writeFile(TEXT, `${JSON.stringify(text, null, 2)}\n`);
  } finally {
    await demo.close();
  }
}

/** Starts `npm run demo` in a process of its own, and resolves once it serves. */
async function openDemo(): Promise<{ url: string; close: () => Promise<void> }> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['--import', './scripts/require-node.mjs', 'scripts/demo.ts'], {
    cwd: ROOT,
    env: { ...process.env, HOST: '127.0.0.1', PORT: String(port), BASE_URL: url },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new ServiceError('unavailable', 'The demonstration ended before it served.');
    await wait(200);
  }
  const close = async () => {
    child.kill('SIGINT');
    await ended;
  };
  return { url, close };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** Reads what the page says before the record of the listing begins: each piece of text once, without what is left to chance. */
async function readPage(url: string): Promise<string[]> {
  const html = await (await fetch(`${url}${PAGE}`)).text();
  const [, main = ''] = /<main\b[^>]*>(.*?)(?:<h2 id="record"|<\/main>)/s.exec(html) ?? [];
  const pieces = main.replace(/<(svg|script)\b.*?<\/\1>/gs, '').split(/<[^>]*>/);
  return [...new Set(pieces.map((piece) => piece.replace(CHANCE, '…').replace(/\s+/g, ' ').trim()))]
    .filter(Boolean)
    .sort();
}

/** Throws where the page says something else than when the picture was taken. */
async function refuseOther(text: readonly string[]): Promise<void> {
  const shown: string[] = JSON.parse(await readFile(TEXT, 'utf8'));
  const gone = shown.filter((piece) => !text.includes(piece));
  const added = text.filter((piece) => !shown.includes(piece));
  if (gone.length + added.length === 0) return;
  const say = (pieces: readonly string[]) => pieces.map((piece) => `“${piece}”`).join(', ') || 'nothing';
  throw new ServiceError('conflict', `The picture is old. Gone since then: ${say(gone)}; added: ${say(added)}.`, {
    hint: 'Run npm run picture, look at it, and commit it.',
  });
}

async function takePicture(url: string): Promise<void> {
  const { openBrowser } = await import('./browser.ts');
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    const session = await page.context().newCDPSession(page);
    await page.goto(`${url}${PAGE}`, { waitUntil: 'networkidle' });
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    await writeFile(join(FOLDER, PICTURE), data, 'base64');
  } finally {
    await browser.close();
  }
}

try {
  await run();
  process.exit(0);
} catch (error) {
  endWithFailure(error);
}
