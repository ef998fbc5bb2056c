import { it } from 'vitest';
import { testRequests } from '../mcp/labelled-requests.ts';
import { skipWithout } from '../skipped.ts';

it('every labelled request over real listings is answered briefly, by routes that can be checked', async (context) => {
  skipWithout('corpus', context);
  await testRequests(1);
});
