import { expect, it } from 'vitest';
import { CONTRACTS, compileContract } from './compile-token.ts';

// After a change of the source: `npx vitest run test/market/token-code.test.ts --update`.
it.each(CONTRACTS)('keeps the code of %s as the compiler makes it of %s beside it', async (name, source, code) => {
  await expect(`${compileContract(name, source)}\n`).toMatchFileSnapshot(`../../scripts/market/token/${code}`);
});
