import { it } from 'vitest';
import { checkPublished } from '../catalogue/published-property.ts';

it('whatever is sampled and whenever it is published, readers see what working it out again gives, 100 times', () =>
  checkPublished(100));
