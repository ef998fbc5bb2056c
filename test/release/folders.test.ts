import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { linkFile, writeNew } from '../../src/release/folders.ts';
import { makeFolder } from '../builders.ts';

describe('giving a file a second name', () => {
  it('shares its bytes, and tells when there is none', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), 'bytes');
    expect(linkFile(join(folder, 'a'), join(folder, 'b'))).toBe(true);
    expect(statSync(join(folder, 'b')).ino).toBe(statSync(join(folder, 'a')).ino);
    expect(linkFile(join(folder, 'none'), join(folder, 'c'))).toBe(false);
    expect(existsSync(join(folder, 'c'))).toBe(false);
  });

  it('copies to another file system', (context) => {
    const folder = makeFolder();
    const place = ['/dev/shm', tmpdir()].find(
      (path) => existsSync(path) && statSync(path).dev !== statSync(folder).dev,
    );
    if (!place)
      return context.skip(
        'no second file system: run the tests where /dev/shm and the folder of temporary files differ',
      );
    const other = mkdtempSync(join(place, 'catalogue-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    writeFileSync(join(folder, 'a'), 'bytes');
    expect(linkFile(join(folder, 'a'), join(other, 'a'))).toBe(true);
    expect(readFileSync(join(other, 'a'), 'utf8')).toBe('bytes');
  });

  it('copies a file that has as many names as it can, and passes on any other failure', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), 'bytes');
    const failWith = (code: string) => () => {
      throw Object.assign(new Error(code), { code });
    };
    expect(linkFile(join(folder, 'a'), join(folder, 'b'), failWith('EMLINK'))).toBe(true);
    expect(statSync(join(folder, 'b')).ino).not.toBe(statSync(join(folder, 'a')).ino);
    expect(() => linkFile(join(folder, 'a'), join(folder, 'c'), failWith('ENOSPC'))).toThrow('ENOSPC');
  });
});

it('never writes to a file that is there, since an earlier release may share it', () => {
  const file = join(makeFolder(), 'page.html');
  writeNew(file, 'first');
  expect(() => writeNew(file, 'second')).toThrow('EEXIST');
  expect(readFileSync(file, 'utf8')).toBe('first');
});
