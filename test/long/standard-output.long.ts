import { it } from 'vitest';
import { testOutput } from '../cli/standard-output.ts';

it('a command ends quietly when its reader stops, and with one sentence when the disk is full', () =>
  testOutput([['export'], ['export', '--json'], ['list', '--json'], ['list'], ['--help']]));
