import { it } from 'vitest';
import { testRequests } from '../mcp/labelled-requests.ts';
import { HAS_CORPUS } from '../search/corpus.ts';

it.skipIf(!HAS_CORPUS)(
  'every labelled request over real listings is answered briefly, by routes that can be checked',
  () => testRequests(1),
);
