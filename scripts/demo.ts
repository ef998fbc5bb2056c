import './require-node.mjs';

const { spawn } = await import('node:child_process');
const { once } = (await import('node:events')).default;
const { mkdtemp, rm } = await import('node:fs/promises');
const { tmpdir } = await import('node:os');
const { join } = await import('node:path');
const { parseArgs } = await import('node:util');
const { buildUsageFailure, getExitCode, getFailure } = await import('../src/commands/failure.ts');
const { getErrorMessage } = await import('../src/errors.ts');
const { openBuyer } = await import('./market/buyer.ts');
const { getProvider, startMarket } = await import('./market/market.ts');

const { stdout, stderr } = process;
const ROOT = join(import.meta.dirname, '..');
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort());

/**
 * `npm run demo [-- --no-serve]`: a whole market on this machine. Local chains, a facilitator and six payable providers
 * are started; their feed is imported, every route probed, real calls paid for with real signatures, the pages built and
 * served. No wallet and no internet is needed, and nothing outlives it.
 */
async function run(): Promise<void> {
  const isServing = readOptions();
  const folder = await mkdtemp(join(tmpdir(), 'agent-payable-demo-'));
  // Blocks come by themselves, so that the clock by which a payment expires goes on.
  const market = await startMarket({ chains: { blockSeconds: 1 } });
  try {
    const buyer = await openBuyer(market);
    tell(`A market of ${market.providers.length} providers, with Base and Solana of its own, is open on this machine.`);
    const settings = {
      CATALOGUE: join(folder, 'catalogue.sqlite'),
      RELEASES: join(folder, 'dist'),
      ALLOW_PRIVATE_NETWORKS: 'on',
    };
    // As an operator has them: the serving process does not get to see a key.
    const wallet = {
      PAYER_FOLDER: join(folder, 'payer'),
      EVM_RPC_URL: market.base.rpcUrl,
      PAYER_EVM_PRIVATE_KEY: buyer.evmPrivateKey,
      ...(market.solana && { SOLANA_RPC_URL: market.solana.rpcUrl, PAYER_SOLANA_PRIVATE_KEY: buyer.solanaPrivateKey }),
    };
    await say(['import', '--bazaar', market.feedUrl], settings);
    // The feed says nothing of what this one takes; its own document does.
    await say(['import', '--openapi', getProvider(market, 'check-digits').documentUrl], settings);
    await say(['probe', '--all', '--pause', '20'], settings);
    for (const [slug, route] of await listRoutes(settings)) {
      if (stopping.signal.aborted) return;
      await say(['verify', slug, '--route', route, '--pay'], { ...settings, ...wallet });
    }
    // Where both are to be had the cheapest is taken, and Base where they cost the same: so without a wallet there.
    const { EVM_RPC_URL: _node, PAYER_EVM_PRIVATE_KEY: _key, ...solanaOnly } = wallet;
    await say(['verify', 'map-math', '--route', 'GET /v1/distance', '--pay'], { ...settings, ...solanaOnly });
    await say(['receipts'], { ...settings, ...wallet });
    if (isServing && !stopping.signal.aborted) await start('scripts/serve.ts', [], { ...settings, LOG_LEVEL: 'warn' });
  } finally {
    await market.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function readOptions(): boolean {
  try {
    const { values } = parseArgs({ options: { 'no-serve': { type: 'boolean' } } });
    return !values['no-serve'];
  } catch (error) {
    throw buildUsageFailure(getErrorMessage(error), 'npm run demo -- [--no-serve]');
  }
}

function tell(line: string): void {
  stdout.write(`${line}\n`);
}

/** Runs an operator's command as an operator does, after saying which. */
async function say(args: readonly string[], settings: Record<string, string>): Promise<void> {
  tell(`\n$ npm run catalogue -- ${args.map((arg) => (/[\s"]/.test(arg) ? JSON.stringify(arg) : arg)).join(' ')}`);
  await start('scripts/catalogue.ts', args, settings);
}

/** Runs a script to its end; Ctrl-C reaches it as well, and an exit code is its own affair. */
async function start(script: string, args: readonly string[], settings: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...settings },
  });
  const stop = () => child.kill('SIGTERM');
  stopping.signal.addEventListener('abort', stop, { once: true });
  await once(child, 'exit');
  stopping.signal.removeEventListener('abort', stop);
}

/** Lists the first two routes of every listing, as `verify` takes them. */
async function listRoutes(settings: Record<string, string>): Promise<[slug: string, route: string][]> {
  const { openCatalogueForReading } = await import('../src/catalogue/database.ts');
  const { listListings } = await import('../src/catalogue/listings.ts');
  const { formatRoute } = await import('../src/model/route.ts');
  const catalogue = openCatalogueForReading(settings.CATALOGUE ?? '');
  try {
    return listListings(catalogue).flatMap(({ slug, routes }) =>
      routes.slice(0, 2).map((route): [string, string] => [slug, formatRoute(route)]),
    );
  } finally {
    catalogue.close();
  }
}

try {
  await run();
  process.exit(0);
} catch (error) {
  const failure = getFailure(error);
  stderr.write(`error: ${failure.message}\n${failure.hint ? `hint: ${failure.hint}\n` : ''}`);
  process.exit(stopping.signal.aborted ? 0 : getExitCode(failure));
}
