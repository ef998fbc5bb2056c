import { renameSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NOW } from '../builders.ts';
import { startCatalogue } from './running.ts';
import { makeUsed } from './used.ts';

it('writes the private figures in the text format of Prometheus', async () => {
  const { run } = await makeUsed({ MAX_USDC_PER_DAY: '0.5' });
  const { code, stdout, stderr } = await run(['metrics']);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n');
  for (const line of [
    'catalogue_up 1',
    'catalogue_listings{state="live"} 1',
    'catalogue_listings{state="verified"} 1',
    'catalogue_probes_recent{outcome="payable"} 1',
    'catalogue_probes_recent{outcome="timeout"} 0',
    `catalogue_probe_last_timestamp_seconds ${Date.parse(NOW) / 1000}`,
    'catalogue_payments{state="settled"} 1',
    'catalogue_payments{state="open"} 0',
    'catalogue_settled_usdc 0.001',
    'catalogue_day_spent_usdc 0.001',
    'catalogue_day_cap_usdc 0.5',
    'catalogue_day_left_usdc 0.499',
  ])
    expect(lines).toContain(line);
  expect(lines.filter((line) => line.startsWith('# HELP catalogue_')).length).toBeGreaterThan(10);
});

it('says nothing of a cap that it does not know, and gives the same as JSON', async () => {
  const { run, runJson } = await makeUsed();
  expect((await run(['metrics'])).stdout).not.toMatch(/catalogue_day_(cap|left)/);
  const { json } = await runJson('metrics');
  expect(json).toContainEqual({
    name: 'catalogue_day_spent_usdc',
    help: expect.any(String),
    values: [{ labels: {}, value: 0.001 }],
  });
});

it('refuses to run with a key, and to serve without a port', async () => {
  const { run } = await makeUsed();
  expect(await run(['metrics', '--serve'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: METRICS_PORT is not set/),
  });
  const holding = await makeUsed({ PAYER_STOP_FILE: '/tmp/stop' });
  expect(await holding.run(['metrics'])).toMatchObject({ code: 1, stderr: expect.stringContaining('PAYER_STOP_FILE') });
});

it('serves them until it is stopped, and says when the catalogue is away', async () => {
  const { environment, file } = await makeUsed();
  const { child, ran } = startCatalogue(['metrics', '--serve'], { ...environment, METRICS_PORT: '0' });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const find = () => /Serving metrics at (http:\S+\/metrics)\./.exec(said)?.[1];
  await expect.poll(find).toBeDefined();
  const read = async () => (await fetch(find() ?? '')).text();
  expect(await read()).toContain('\ncatalogue_listings{state="live"} 1\n');
  renameSync(file, `${file}.away`);
  const without = await read();
  expect(without).toContain('\ncatalogue_up 0\n');
  expect(without).not.toContain('catalogue_listings');
  await read();
  expect(said.match(/The catalogue cannot be read/g)).toHaveLength(1);
  renameSync(`${file}.away`, file);
  expect(await read()).toContain('\ncatalogue_up 1\n');
  child.kill('SIGTERM');
  expect((await ran).code).toBe(0);
});
