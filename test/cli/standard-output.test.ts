import { it } from 'vitest';
import { testOutput } from './standard-output.ts';

// One that writes bit by bit; a long test runs more, among them those that write a single document.
it('ends quietly when its reader stops, and with one sentence when the disk is full', () => testOutput([['export']]));
