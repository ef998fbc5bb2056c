import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { listSlugs } from '../../src/catalogue/read/listings.ts';
import { buildFailureDocument, getExitCode } from '../../src/cli/failure.ts';
import { ServiceError } from '../../src/errors.ts';
import { getFailure } from '../../src/model/failure.ts';
import { makeCatalogue, makeDeclaration } from '../builders.ts';
import { declareListings } from '../written.ts';
import { makeCommands } from './running.ts';

async function getThrown(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a failure of the system', () => {
  it('by a full disk is one sentence, and what was recorded before stays', async () => {
    const catalogue = await makeCatalogue();
    await declareListings(catalogue, [makeDeclaration()]);
    catalogue.engine.sqlite.pragma(
      `max_page_count = ${catalogue.engine.sqlite.pragma('page_count', { simple: true })}`,
    );
    const large = makeDeclaration({
      base_url: 'https://large.provider-of-tests.com',
      slug: 'large',
      description: 'x'.repeat(100_000),
    });
    const error = await getThrown(() => declareListings(catalogue, [large]));
    expect(getFailure(error)).toMatchObject({
      code: 'unavailable',
      message: 'The disk is full.',
      reason: 'sqlite_full',
    });
    expect(await listSlugs(catalogue)).toEqual(['example-prices']);
  });

  it('by another writer says so', async () => {
    const catalogue = await makeCatalogue();
    const other = new Sqlite(catalogue.address, { timeout: 0 });
    catalogue.engine.sqlite.exec('BEGIN IMMEDIATE');
    const error = await getThrown(() => other.exec('BEGIN IMMEDIATE'));
    catalogue.engine.sqlite.exec('ROLLBACK');
    other.close();
    expect(getFailure(error)).toMatchObject({
      code: 'conflict',
      message: 'Another process is writing to the catalogue.',
    });
  });

  it('names the path where there is one', () => {
    const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path: '/some/file' });
    expect(getFailure(error)).toMatchObject({
      message: 'No permission to use a file or folder: /some/file.',
      reason: 'eacces',
    });
  });

  it('that nobody thought of is called a fault of the program', () => {
    const failure = getFailure(new TypeError('x is not a function'));
    expect(failure.message).toBe('An unexpected failure: x is not a function.');
    expect(getExitCode(failure)).toBe(1);
    expect(getExitCode(getFailure('thrown text'))).toBe(1);
  });
});

describe('a failure without a hint of its own', () => {
  it.each([
    [['import', '--openapi', 'https://127.0.0.1/openapi.json'], /^hint: ALLOW_PRIVATE_NETWORKS=on lets/m],
    [
      ['import', '--openapi', 'http://api.provider-of-tests.com/openapi.json'],
      /^hint: ALLOW_PRIVATE_NETWORKS=on lets/m,
    ],
    [['receipts', 'check', 'package.json'], /^hint: A receipt has at most 256 KB/m],
    [['receipts', 'check', 'README.md'], /^hint: Open the address or file/m],
  ])('gets a general one: %j', async (args, hint) => {
    const { run, runJson } = makeCommands();
    const { code, stderr } = await run(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*\.\nhint: .*\.\n$/);
    expect(stderr).toMatch(hint);
    expect((await runJson(...args)).json.error.hint).toMatch(/\.$/);
  });
});

describe('a failure as JSON', () => {
  it('carries code, reason, message, hint and details', () => {
    const failure = new ServiceError('refused', 'No.', { hint: 'Yes.', reason: 'because', details: { offset: 3 } });
    expect(buildFailureDocument(failure)).toEqual({
      error: { code: 'refused', reason: 'because', message: 'No.', hint: 'Yes.', details: { offset: 3 } },
    });
    expect(buildFailureDocument(new ServiceError('internal', 'No.'))).toEqual({
      error: { code: 'internal', reason: 'internal', message: 'No.' },
    });
  });
});
