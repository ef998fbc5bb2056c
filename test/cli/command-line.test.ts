import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/index.ts';
import { makeCommands, writeManifest } from './running.ts';

describe('help', () => {
  it('lists every command with a line about it', async () => {
    const { code, stdout, stderr } = await makeCommands().run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const name of COMMAND_NAMES) expect(stdout).toMatch(new RegExp(`^  ${name} .*\\w`, 'm'));
    expect(stdout).toContain('0 done, 1 done in part or failed, 2 wrong usage');
  });

  it('says the version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const ran = await makeCommands().run(['--version']);
    expect(ran).toEqual({ code: 0, stdout: `agent-payable-apis ${version}\n`, stderr: '' });
  });

  it.each(COMMAND_NAMES)('of %s shows its options and an example', async (name) => {
    const { [name]: command, ...others } = await loadCommands(['--json', name, '--help']);
    if (command === undefined) throw new Error('it is a command');
    expect(others).toEqual({});
    const { options = [], examples } = command;
    const { code, stdout } = await makeCommands().run([name, '--help']);
    expect(code).toBe(0);
    for (const [flags] of options) expect(stdout).toContain(flags);
    for (const [line] of examples) expect(stdout).toContain(`npm run catalogue -- ${line}`);
    expect(stdout).toContain('--json');
  });
});

describe('help for a program', () => {
  it.each([
    [['--help', '--json'], 'Usage: catalogue <command>'],
    [['--json', '-h'], 'Usage: catalogue <command>'],
    [['list', '--json', '--help'], 'Usage: catalogue list'],
    [['import', '-h', '--json'], 'Usage: catalogue import'],
  ])('is one JSON document, and exit code 0: %j', async (args, usage) => {
    const { code, stdout, stderr } = await makeCommands().run(args);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ help: expect.stringContaining(usage) });
  });
});

describe('a wrong command line', () => {
  it.each([
    [['imprt'], /Unknown command 'imprt'/, /Did you mean import\?/],
    [['list', '--stat', 'live'], /Unknown option '--stat'/, /Did you mean --state\?/],
    [['list', '--state', 'gone'], /--state cannot be "gone"; it takes one of live, held, delisted/, /list --help/],
    [['list', '--category', 'Weather'], /--category cannot be "Weather"/, /list --help/],
    [['list', '--limit', '1e3'], /--limit cannot be "1e3"; it takes a whole number/, /list --help/],
    [['list', '--verified', '--unverified'], /not both/, /list --help/],
    [['list', 'extra'], /Too many arguments/, /list --help/],
    [['show'], /Missing required argument 'slug'/, /show --help/],
    [['delist', 'x'], /--reason is missing/, /delist --help/],
    [['delist', 'x', '--reason', 'one\ntwo'], /--reason cannot be/, /delist --help/],
    [['import'], /Give manifests, or one of --feed, --bazaar/, /import --help/],
    [['import', 'a.yaml', '--bazaar', 'b.json'], /Give manifests, or one of --feed, --bazaar/, /import --help/],
    [[], /No command was given/, /--help lists the commands/],
  ])('%j is one sentence with a hint, and exit code 2', async (args, message, hint) => {
    const { code, stdout, stderr } = await makeCommands().run(args);
    expect([code, stdout]).toEqual([2, '']);
    const [first, second, ...rest] = stderr.split('\n');
    expect(first).toMatch(message);
    expect(first).toMatch(/^error: .*\.$/);
    expect(second).toMatch(hint);
    expect(rest).toEqual(['']);
  });

  it('is one JSON document on standard output with --json', async () => {
    const { code, json } = await makeCommands().runJson('lst');
    expect(code).toBe(2);
    expect(json.error).toMatchObject({ code: 'bad_input', reason: 'usage', hint: expect.stringContaining('list') });
  });
});

describe('a huge word', () => {
  const HUGE = `${'ä'.repeat(5000)}x`;

  it.each([
    [[HUGE]],
    [['list', `--${HUGE}`]],
    [['list', HUGE]],
    [['list', '--state', HUGE]],
    [['list', '--limit', HUGE]],
    [['delist', 'alpha', '--reason', HUGE]],
    [['show', HUGE]],
    [['why', HUGE]],
    [['why', `https://${HUGE}.example`]],
    [['why', `https://a.example/${HUGE}`]],
    [['relist', HUGE]],
    [['delist', HUGE, '--reason', 'x']],
    [['import', HUGE]],
    [['import', '--bazaar', HUGE]],
    [['import', '--bazaar', `https://a.example/${HUGE}`]],
    [['import', '--openapi', `https://a.example.invalid/?q=${HUGE}`]],
    [['import', '--openapi', 'none.json', '--base-url', `https://${HUGE}.example`]],
    [['backup', HUGE]],
  ])('is quoted by its beginning alone: %#', async (args) => {
    const { folder, run } = makeCommands();
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    const { code, stdout, stderr } = await run(args);
    expect([code === 1 || code === 2, stdout]).toEqual([true, '']);
    expect(stderr).toMatch(/^error: .*\n(?:hint: .*\n)?$/);
    expect(stderr.length).toBeLessThan(600);
  });
});

describe('a command that cannot do its work', () => {
  it.each(['list', 'status', 'export', 'show x', 'why x', 'relist x', 'delist x --reason y', 'backup b'])(
    '%s says so when there is no catalogue, and makes none',
    async (line) => {
      const { run, runJson } = makeCommands();
      const { code, stdout, stderr } = await run(line.split(' '));
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^error: There is no catalogue at .*\.\nhint: .*\.\n$/);
      expect((await runJson(...line.split(' '))).json.error.reason).toBe('no_catalogue');
    },
  );

  it('says so of a file that nothing was written to', async () => {
    const { run, file } = makeCommands();
    writeFileSync(file, '');
    expect((await run(['list'])).stderr).toContain('There is no catalogue at ');
  });

  it('names a setting that cannot be read', async () => {
    const { code, stderr } = await makeCommands({ PORT: 'many' }).run(['list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The setting PORT has the value "many"/);
  });
});
