import { expect, it } from 'vitest';
import { CONTRACTS, compileContract } from '../market/compile-token.ts';

// After a change of the source: `npm run test:long -- token-code --update`.
it.each(CONTRACTS)('keeps the code of %s as the compiler makes it of %s beside it', async (name, source, code) => {
  await expect(`${compileContract(name, source)}\n`).toMatchFileSnapshot(`../../scripts/market/token/${code}`);
});

it('keeps the code of the token of one more chain', async () => {
  const code = compileContract('LocalUsdc', 'LocalUsdc.sol', (source) =>
    source.replace('name = "USD Coin"', 'name = "Meadow Dollar"').replace('version = "2"', 'version = "3"'),
  );
  await expect(`${code}\n`).toMatchFileSnapshot('../paying/meadow-dollar.hex');
});
