import { registerHooks } from 'node:module';
import { afterAll } from 'vitest';

/** Marks the addresses of modules that are loaded once more, with one more chain in their table. */
const MARK = '?one-more-chain';

/** One more entry of the table: nothing else of the service knows this chain. Its first block is read from the local chain. */
const ENTRY = `
  meadow: {
    key: 'meadow',
    family: 'evm',
    id: 'eip155:31337',
    label: 'Meadow',
    aliases: ['meadowmainnet', '31337'],
    isWord: true,
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    decimals: 6,
    domain: { name: 'Meadow Dollar', version: '3' },
    genesis: '',
    confirmations: 3,
    coin: 'SEED',
    nodeSetting: 'MEADOW_RPC_URL',
    getTransactionUrl: (transaction) => \`https://meadow.example/tx/\${transaction}\`,
    getAccountUrl: (account) => \`https://meadow.example/address/\${account}\`,
    getBlockUrl: (block) => \`https://meadow.example/block/\${block}\`,
  },`;

const END_OF_TABLE = '\n} as const satisfies';

const hooks = registerHooks({
  // Files of one worker share its modules, so all of the project's are loaded once more, and those of packages are not.
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isOurs = found.url.startsWith('file:') && !found.url.includes('/node_modules/');
    return isOurs && context.parentURL?.endsWith(MARK) ? { ...found, url: `${found.url}${MARK}` } : found;
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(`/src/model/chains.ts${MARK}`)) return loaded;
    const source = String(loaded.source);
    if (!source.includes(END_OF_TABLE)) throw new Error('the table of chains ends otherwise');
    return { ...loaded, source: source.replace(END_OF_TABLE, () => `${ENTRY}${END_OF_TABLE}`) };
  },
});
afterAll(() => hooks.deregister());

const marked = `./one-more-chain.ts${MARK}`;
await import(marked);
