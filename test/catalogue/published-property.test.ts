import { it } from 'vitest';
import { checkPublished } from './published-property.ts';

// A long test has many more.
it('whatever is sampled and whenever it is published, readers see what working it out again gives', () =>
  checkPublished(1));
