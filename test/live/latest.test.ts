import { expect, it } from 'vitest';
import { createLatest } from '../../src/live/latest.ts';

const create = (limit: number) => createLatest<string>(limit, ({ length }) => length);

it('makes room by letting go what came first, save what was asked for since', () => {
  const latest = create(3);
  for (const key of ['a', 'b', 'c']) latest.add(key, key);
  latest.find('a');
  latest.add('d', 'd');
  expect(['a', 'b', 'c', 'd'].map(latest.find)).toEqual(['a', undefined, 'c', 'd']);
});

it('lets go what was asked for, too, once all was', () => {
  const latest = create(3);
  for (const key of ['a', 'b', 'c']) latest.add(key, key);
  for (const key of ['a', 'b', 'c']) latest.find(key);
  latest.add('dd', 'dd');
  expect(['a', 'b', 'c', 'dd'].map(latest.find)).toEqual([undefined, undefined, 'c', 'dd']);
});

it('keeps what came last, though all before it was asked for', () => {
  const latest = create(3);
  for (const key of ['a', 'b', 'c']) latest.add(key, key);
  for (const key of ['a', 'b', 'c']) latest.find(key);
  latest.add('d', 'd');
  latest.add('e', 'e');
  expect(['a', 'b', 'c', 'd', 'e'].map(latest.find)).toEqual([undefined, undefined, 'c', 'd', 'e']);
});

it('keeps one that is larger than the limit, alone, and counts what took the place of another once', () => {
  const latest = create(3);
  latest.add('a', 'a');
  latest.add('b', 'bbbbb');
  expect(['a', 'b'].map(latest.find)).toEqual([undefined, 'bbbbb']);
  latest.add('b', 'b');
  latest.add('c', 'cc');
  expect(['b', 'c'].map(latest.find)).toEqual(['b', 'cc']);
  latest.remove('b');
  latest.remove('b');
  latest.add('d', 'd');
  expect(['b', 'c', 'd'].map(latest.find)).toEqual([undefined, 'cc', 'd']);
  latest.clear();
  latest.add('e', 'eee');
  expect(['c', 'd', 'e'].map(latest.find)).toEqual([undefined, undefined, 'eee']);
});

it('holds what is asked for all the time, whatever else comes by', () => {
  const latest = create(10);
  latest.add('home', 'x');
  for (let count = 0; count < 1000; count += 1) {
    expect(latest.find('home')).toBe('x');
    latest.add(`${count}`, 'x');
  }
});
