import { expect, it } from 'vitest';
import { compileToken } from './compile-token.ts';

// After a change of the source: `npx vitest run test/market/token-code.test.ts --update`.
it('keeps the code of the token as the compiler makes it of the source beside it', async () => {
  await expect(`${compileToken()}\n`).toMatchFileSnapshot('../../scripts/market/token/local-usdc.hex');
});
