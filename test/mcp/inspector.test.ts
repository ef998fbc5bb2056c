import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeMany, serveMcp } from './serving.ts';

const RUNNER = join(import.meta.dirname, 'inspector-calls.ts');

const CALLS = [
  ['tools/list', '--strict'],
  ['tools/call', '--tool-name', 'get_listing', '--tool-arg', 'slug=numbered-001'],
  ['resources/list'],
  ['resources/templates/list'],
  ['resources/read', '--uri', 'catalogue://listing/numbered-001'],
  ['prompts/list'],
  ['prompts/get', '--prompt-name', 'pay_for_listed_api', '--prompt-args', 'slug=numbered-001'],
];

it.each(['modern', 'legacy'])(
  "the inspector's command line finds nothing to say against lists, schemas and answers, and says so where something is wrong: %s era",
  async (era) => {
    const { url } = await serveMcp(makeMany(3));
    const absent = ['resources/read', '--uri', 'catalogue://listing/absent'];
    const { code, answers, complaints } = await inspect(url, era, [...CALLS, absent]);
    const [tools, called, resources, templates, read, prompts, got] = answers;
    expect(tools.tools.length).toBeGreaterThanOrEqual(3);
    expect(called.structuredContent).toMatchObject({ slug: 'numbered-001', state: 'live' });
    expect(resources.resources).toMatchObject([{ uri: 'catalogue://summary' }]);
    expect(templates.resourceTemplates).toMatchObject([{ uriTemplate: 'catalogue://listing/{slug}' }]);
    expect(read.contents[0].text).toContain('# Listing numbered-001');
    expect(prompts.prompts).toMatchObject([{ name: 'pay_for_listed_api' }]);
    expect(got.messages).toHaveLength(2);
    // Of all that it says on standard error, nothing is about the calls before the last one.
    expect([answers.length, code === 0]).toEqual([CALLS.length, false]);
    expect(complaints).toMatch(/^[^\n]*There is no listing at this address\.[^\n]*\n$/);
  },
);

/** Runs calls of the inspector, in a home of its own: it keeps a folder there. */
async function inspect(url: URL, era: string, calls: string[][]) {
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const lines = calls.map((call) => [url.href, '--protocol-era', era, '--method', ...call]);
  const env = { ...process.env, HOME: home, BASE_URL: '' };
  return new Promise<{ code: unknown; answers: ReturnType<typeof JSON.parse>[]; complaints: string }>((resolve) => {
    execFile(process.execPath, [RUNNER, JSON.stringify(lines)], { env }, (error, stdout, stderr) => {
      const answers = stdout.split('\u001e').slice(0, -1);
      resolve({ code: error?.code ?? 0, answers: answers.map((answer) => JSON.parse(answer)), complaints: stderr });
    });
  });
}
