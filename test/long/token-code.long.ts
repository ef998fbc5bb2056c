import { expect, it } from 'vitest';
import { CONTRACTS, compileContract } from '../market/compile-token.ts';

// After a change of the source: `npm run test:long -- token-code --update`.
it.each(CONTRACTS)('keeps the code of %s as the compiler makes it of %s beside it', async (name, source, code) => {
  await expect(`${compileContract(name, source)}\n`).toMatchFileSnapshot(`../../scripts/market/token/${code}`);
});
