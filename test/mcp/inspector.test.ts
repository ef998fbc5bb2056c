import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
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

describe.each(['modern', 'legacy'])("the inspector's command line, %s era", (era) => {
  it('finds nothing to say against lists, schemas and answers', async () => {
    const { url } = await serveMcp(makeMany(3));
    const { code, answers, complaints } = await inspect(url, era, CALLS);
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    const [tools, called, resources, templates, read, prompts, got] = answers;
    expect(tools.tools.length).toBeGreaterThanOrEqual(3);
    expect(called.structuredContent).toMatchObject({ slug: 'numbered-001', state: 'live' });
    expect(resources.resources).toMatchObject([{ uri: 'catalogue://summary' }]);
    expect(templates.resourceTemplates).toMatchObject([{ uriTemplate: 'catalogue://listing/{slug}' }]);
    expect(read.contents[0].text).toContain('# Listing numbered-001');
    expect(prompts.prompts).toMatchObject([{ name: 'pay_for_listed_api' }]);
    expect(got.messages).toHaveLength(2);
  });
});

describe("the inspector's command line", () => {
  it('does say so where something is wrong', async () => {
    const { url } = await serveMcp(makeMany(1));
    const { code, complaints } = await inspect(url, 'modern', [
      ['resources/read', '--uri', 'catalogue://listing/absent'],
    ]);
    expect(code).not.toBe(0);
    expect(complaints).toContain('There is no listing at this address.');
  });
});

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
