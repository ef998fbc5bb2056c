import './require-node.mjs';
import type { Market } from './market/market.ts';

const { spawn } = await import('node:child_process');
const { once } = (await import('node:events')).default;
const { mkdtemp, rm } = await import('node:fs/promises');
const { tmpdir } = await import('node:os');
const { join } = await import('node:path');
const { endWithFailure, readArguments } = await import('./entry.ts');
const { listenForStop } = await import('../src/cli/stopping.ts');
const { readConfig, readEnvironment, withoutSecrets } = await import('../src/config.ts');

const { stdout, stderr } = process;
const ROOT = join(import.meta.dirname, '..');
const signal = listenForStop(process, () => undefined);

const USAGE = {
  line: 'npm run demo',
  about: `Opens a whole market on this machine (chains, a facilitator and payable providers); imports, probes, pays and serves.

  -h, --help    shows this
  -V, --version shows the version

Ctrl-C leaves nothing behind. HOST and PORT say where it serves.`,
};

/**
 * Runs `npm run demo`. Starts local chains, a facilitator and six payable providers, imports their feed, probes all routes,
 * pays for real calls with real signatures, builds the pages and serves them. It needs no wallet and no internet, and
 * leaves nothing behind.
 */
async function run(): Promise<void> {
  readArguments(USAGE, {});
  await refuseTakenPort();
  // Loaded late, because chains and wallets take long and a wrong command line is refused before.
  const { openBuyer } = await import('./market/buyer.ts');
  const { allowPermit2 } = await import('./market/chain-base.ts');
  const { getProvider, startMarket } = await import('./market/market.ts');
  const folder = await mkdtemp(join(tmpdir(), 'agent-payable-demo-'));
  // Blocks come also without transactions, so that the chain's clock goes on and payments can expire.
  const market = await startMarket({ tools: true, chains: { blockSeconds: 1 } });
  try {
    const buyer = await openBuyer(market);
    tell(`A market of ${market.providers.length} providers, with Base and Solana of its own, is open on this machine.`);
    const settings = {
      CATALOGUE: join(folder, 'catalogue.sqlite'),
      SITE: join(folder, 'site'),
      ALLOW_PRIVATE_NETWORKS: 'on',
    };
    // Apart from the other settings, because the serving process must not have a key.
    const wallet = {
      PAYER_FOLDER: join(folder, 'payer'),
      EVM_RPC_URL: market.base.rpcUrl,
      PAYER_EVM_PRIVATE_KEY: buyer.evmPrivateKey,
      ...(market.solana && { SOLANA_RPC_URL: market.solana.rpcUrl, PAYER_SOLANA_PRIVATE_KEY: buyer.solanaPrivateKey }),
    };
    await say(['import', '--bazaar', market.feedUrl], settings);
    // The feed does not describe the input of this one; its own document does.
    await say(['import', '--openapi', getProvider(market, 'check-digits').documentUrl], settings);
    await say(['probe', '--all', '--pause', '20'], settings);
    for (const [slug, route] of await listRoutes(settings)) {
      if (signal.aborted) return;
      await say(['verify', slug, '--route', route, '--pay'], { ...settings, ...wallet });
    }
    // Base is taken of two networks with the same price. Without a wallet on Base, this call is paid on Solana.
    const { EVM_RPC_URL: _node, PAYER_EVM_PRIVATE_KEY: _key, ...solanaOnly } = wallet;
    await say(['verify', 'map-math', '--route', 'GET /v1/distance', '--pay'], { ...settings, ...solanaOnly });
    // A price that is a ceiling is paid through Permit2, which the wallet allows once.
    await allowPermit2(market.base, buyer.evm);
    await say(['verify', 'tool-desk', '--route', 'POST /mcp#shout_text', '--pay'], { ...settings, ...wallet });
    await say(['receipts'], { ...settings, ...wallet });
    await tellHowToPay(market, settings);
    if (!signal.aborted) await serve({ ...settings, LOG_LEVEL: 'warn' });
  } finally {
    await market.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws if the port is taken, before the minute of work whose result is served there. */
async function refuseTakenPort(): Promise<void> {
  const { openListener } = await import('../src/http/listening.ts');
  const { drain } = await openListener(readConfig(buildEnvironment({})));
  await drain();
}

/** Says how to pay by hand: a new wallet with funds on each chain, its nodes, and a command for each that buys something. */
async function tellHowToPay(market: Market, settings: Record<string, string>): Promise<void> {
  const { openBuyer } = await import('./market/buyer.ts');
  const { evmPrivateKey, solanaPrivateKey } = await openBuyer(market);
  const { baseUrl } = readConfig(buildEnvironment(settings));
  const buy = (request: string) => `npm run --silent demo:buy -- ${baseUrl} '${request}'`;
  tell(
    '\nTo pay by hand once it listens, from another terminal in this folder: two new wallets with 10 USDC of this market.',
  );
  tell(`  Base    node ${market.base.rpcUrl}, key ${evmPrivateKey}`);
  tell(`  Solana  node ${market.solana?.rpcUrl}, key ${solanaPrivateKey}`);
  tell('Each of these searches, has the terms checked, pays, and prints the answer:');
  tell(`  EVM_PRIVATE_KEY=${evmPrivateKey} ${buy('how many words are in this text')}`);
  tell(
    `  SVM_PRIVATE_KEY=${solanaPrivateKey} SOLANA_RPC_URL=${market.solana?.rpcUrl} ${buy('distance between two places')}\n`,
  );
}

function tell(line: string): void {
  stdout.write(`${line}\n`);
}

/** Runs an operator's command with these settings, after saying which. Its exit code does not count here. */
async function say(args: readonly string[], settings: Record<string, string>): Promise<void> {
  signal.throwIfAborted();
  tell(`\n$ npm run catalogue -- ${args.map((arg) => (/[\s"]/.test(arg) ? JSON.stringify(arg) : arg)).join(' ')}`);
  // Run in this process: starting one for each command would be twice the work of all else here.
  const { runCommandLine } = await import('../src/cli/run.ts');
  process.env = buildEnvironment(settings);
  await runCommandLine(args, { stdout, stderr, signal, now: () => new Date() });
}

/** Serves until it is stopped, in a process that gets to see no key. Ctrl-C reaches it as well. */
async function serve(settings: Record<string, string>): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [join(ROOT, 'scripts/serve.ts')], {
    // The channel tells the child that this process is gone.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: buildEnvironment(settings),
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  await once(child, 'exit');
  signal.removeEventListener('abort', stop);
}

/** Returns these settings beside those of the machine. The operator's own wallet pays for nothing here. */
function buildEnvironment(settings: Record<string, string>) {
  return { ...withoutSecrets(readEnvironment()), ENV_FILES: 'off', ...settings };
}

/** Lists the first two routes of every listing, as `verify` takes them. */
async function listRoutes(settings: Record<string, string>): Promise<[slug: string, route: string][]> {
  const { openCatalogueForReading } = await import('../src/catalogue/database.ts');
  const { listListings } = await import('../src/catalogue/read/listings.ts');
  const { formatRoute } = await import('../src/model/route.ts');
  const catalogue = await openCatalogueForReading(settings.CATALOGUE ?? '');
  try {
    return (await listListings(catalogue)).flatMap(({ slug, routes }) =>
      routes.slice(0, 2).map((route): [string, string] => [slug, formatRoute(route)]),
    );
  } finally {
    await catalogue.close();
  }
}

try {
  await run();
  process.exit(0);
} catch (error) {
  if (signal.aborted) process.exit(0);
  endWithFailure(error);
}
