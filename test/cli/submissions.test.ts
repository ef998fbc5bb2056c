import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openQueue } from '../../src/submissions/queue.ts';
import { NOW } from '../builders.ts';
import { FILE, openShop } from '../intake/serving.ts';
import { makeCommands } from './running.ts';

/** Commands beside a queue with one received host, whose provider's file is there. */
async function makeQueue() {
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
  const { origin, files } = await openShop();
  const routes = [{ method: 'GET', path: '/v1/quote', price_usdc: '0.01' }];
  const facts = { name: 'Quotes', tagline: 'Quotes of stocks', routes };
  files[FILE] = JSON.stringify({ version: 1, listings: [{ base_url: origin, listed: true, facts }] });
  const queue = openQueue(join(commands.folder, 'submissions.sqlite'));
  const { id } = queue.submit(origin, { client: 'one', at: NOW, file: null });
  queue.move(id, { state: 'received', at: NOW, reason: 'The file is there.' });
  queue.close();
  return { ...commands, origin, id };
}

describe('submissions', () => {
  it('says that there are none where there is no queue, and lists and shows what there is', async () => {
    expect((await makeCommands().run(['submissions'])).stdout).toBe('Nothing was submitted in the last 30 days.\n');
    const { run, runJson, origin, id } = await makeQueue();
    expect(await run(['submissions'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`received\t${origin}`),
    });
    expect((await runJson('submissions')).json.submissions).toMatchObject([{ id, origin, state: 'received' }]);
    for (const host of [origin, id]) {
      const shown = await run(['submissions', 'show', host]);
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('The file is there.')]);
    }
  });

  it('take reads the file of the host now; refuse says no with its reason', async () => {
    const { run, runJson, origin } = await makeQueue();
    const taken = await runJson('submissions', 'take', origin);
    expect([taken.code, taken.json.taken.listings]).toMatchObject([0, { added: 1 }]);
    expect((await runJson('list')).json.listings).toMatchObject([{ base_url: origin, state: 'live' }]);
    const refused = await runJson('submissions', 'refuse', origin, '--reason', 'It imitates another provider');
    expect(refused.json.submission).toMatchObject({
      state: 'refused',
      history: [{}, {}, { state: 'refused', reason: 'It imitates another provider' }],
    });
    const { stdout } = await run(['status']);
    expect(stdout).toMatch(/submissions\t0 problems, 0 received, 0 listed, 1 refused$/m);
  });

  it('ends with 1 for a host that was not submitted, and with 2 for wrong usage', async () => {
    const { run } = await makeQueue();
    const absent = await run(['submissions', 'take', 'other.example.com']);
    expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('was not submitted')]);
    for (const args of [
      ['show'],
      ['refuse', 'a.example.com'],
      ['take', 'a.example.com', '--reason', 'x'],
      ['list', 'x'],
    ])
      expect([args, (await run(['submissions', ...args])).code]).toEqual([args, 2]);
  });
});
