import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getReleaseState } from '../../src/cli/release-state.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from '../release/rebuilding.ts';
import { makeReleaseFixture } from '../release/release-fixture.ts';
import { makeCommands } from './running.ts';

it('distinguishes a complete release from one that lost files, its page list or its assets', async () => {
  const { config } = await makeReleaseFixture(makeFolder(), { count: 2 });
  const getState = () => getReleaseState(config, { identity: 'fixture', revision: 1 });
  const current = join(config.releasesDir, 'current');
  await rebuildAgain({ config });
  expect(getState()).toMatchObject({ revision: 1, behind: [] });

  truncateSync(join(current, 'api.ap/api-1.html'), 10);
  expect(getState()).toMatchObject({ revision: 1, behind: ['damaged_release'] });
  await rebuildAgain({ config });
  expect(getState().behind).toEqual([]);

  writeFileSync(join(current, 'root/list.json'), '');
  expect(getState()).toMatchObject({ revision: 1, behind: ['damaged_release'] });
  await rebuildAgain({ config });

  rmSync(join(config.releasesDir, 'assets'), { recursive: true });
  expect(getState()).toMatchObject({ revision: 1, behind: ['lost_assets'] });
  await rebuildAgain({ config });
  expect(getState().behind).toEqual([]);
});

it('is reported by the check, with advice', async () => {
  const folder = makeFolder();
  const { config } = await makeReleaseFixture(folder, { count: 2 });
  await rebuildAgain({ config });
  rmSync(join(config.releasesDir, 'assets'), { recursive: true });
  const { runJson } = makeCommands({
    CATALOGUE: config.catalogueAddress,
    RELEASES: config.releasesDir,
    BASE_URL: config.baseUrl,
  });
  const { code, json } = await runJson('check');
  expect(code).toBe(1);
  expect(json.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
    {
      name: 'release',
      ok: false,
      found: expect.stringMatching(/^\S+-r1 of revision 1, not current: stylesheets, scripts or images .* are missing/),
      hint: 'npm run rebuild puts it right.',
    },
  ]);
});
