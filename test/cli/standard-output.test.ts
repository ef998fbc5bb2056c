import { it } from 'vitest';
import { testOutput } from './standard-output.ts';

// One that writes bit by bit, and one that writes a single document; a long test runs more.
it('ends quietly when its reader stops, and with one sentence when the disk is full', () =>
  testOutput([['export'], ['list', '--json']]));
