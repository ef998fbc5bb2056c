import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { countThreads } from '../../src/release/thread-pool.ts';

it('renders in one thread where there are few pages, or less than 2 GB of memory', () => {
  const most = Math.min(4, availableParallelism());
  expect(countThreads(0)).toBe(1);
  expect(countThreads(1000, 8e9)).toBe(1);
  expect(countThreads(100_000, 8e9)).toBe(most);
  expect(countThreads(100_000, 1e9)).toBe(1);
});
