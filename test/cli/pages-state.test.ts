import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getPagesState } from '../../src/cli/pages-state.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { openRecord } from '../../src/site/record.ts';
import { makeFolder } from '../builders.ts';
import { makeWritten, rebuildAgain } from '../site/rebuilding.ts';
import { makeCommands } from './running.ts';

it('distinguishes whole pages from those that lost files or their record, or are being written', async () => {
  const { config } = await makeWritten(makeFolder());
  const state = { identity: 'fixture', revision: 1 };
  const elsewhere = { ...config, siteDir: join(makeFolder(), 'site') };
  expect(getPagesState(elsewhere, state)).toEqual({ revision: null, made_at: null, behind: ['no_pages'] });
  const getState = () => getPagesState(config, state);
  const { site } = await rebuildAgain({ config });
  expect(getState()).toEqual({ revision: 1, made_at: site.at, behind: [] });

  rmSync(join(config.siteDir, 'api/api-1.html'));
  expect(getState()).toMatchObject({ revision: 1, behind: ['lost_pages'] });
  await rebuildAgain({ config });
  expect(getState().behind).toEqual([]);

  const { record: file } = getSitePaths(config.siteDir);
  const record = openRecord(file);
  record.writeBuild('begun', { ...site, revision: 2 });
  record.close();
  expect(getState()).toMatchObject({ revision: 1, behind: ['being_written'] });

  writeFileSync(file, 'x'.repeat(4096));
  expect(getState()).toMatchObject({ behind: ['damaged_record'] });
  writeFileSync(file, '');
  expect(getState()).toMatchObject({ behind: ['no_pages'] });
});

it('is reported by the check, with advice', async () => {
  const { config } = await makeWritten(makeFolder());
  rmSync(join(config.siteDir, 'api/api-1.md'));
  const { runJson } = makeCommands({
    CATALOGUE: config.catalogueAddress,
    SITE: config.siteDir,
    BASE_URL: config.baseUrl,
  });
  const { code, json } = await runJson('check');
  expect(code).toBe(1);
  expect(json.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
    {
      name: 'pages',
      ok: false,
      found: 'of revision 1, not current: files of them are missing',
      hint: 'npm run rebuild puts it right.',
    },
  ]);
});
