import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/index.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { readConfig, readPayerConfig, refuseKeys } from '../../src/config.ts';
import { makeFolder } from '../builders.ts';
import {
  DEPLOY,
  getScriptWords,
  listDeployed,
  OTHER_VARIABLES,
  ROOT,
  readDeployed,
  runTool,
  SETTINGS,
} from './tools.ts';

const SERVICES = listDeployed('systemd', '.service');
/** Asks the server alone, and has no folder of its own. */
const HEALTH = 'catalogue-health.service';
const TIMERS = listDeployed('systemd', '.timer');

/** Lists the values of a directive of a unit. */
function list(unit: string, directive: string): string[] {
  return [...readDeployed(`systemd/${unit}`).matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(
    ([, value = '']) => value,
  );
}

/** The command that a unit runs, as words from the program on; what a shell is given counts as well. */
function getCommand(unit: string): string[] {
  const [line = ''] = list(unit, 'ExecStart');
  const plain = /'exec (.*)'$/.exec(line)?.[1] ?? line;
  return plain.replace(/\$\([^)]*\)/g, 'said').split(' ');
}

/** The variables that a unit sets itself. */
function getOwnVariables(unit: string): Record<string, string> {
  const pairs = list(unit, 'Environment').flatMap((value) => value.split(' '));
  return Object.fromEntries(pairs.map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]));
}

/** Copies the units with the folder of the repository in the place of the one they name. */
function copyUnits(): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = makeFolder();
  cpSync(join(DEPLOY, 'systemd'), folder, { recursive: true });
  for (const name of [...SERVICES, ...TIMERS]) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/opt/catalogue/', `${ROOT}/`));
  }
  return { folder, env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` } };
}

describe('the units', () => {
  it('are what systemd understands', (context) => {
    const { folder, env } = copyUnits();
    const files = [...SERVICES, ...TIMERS].map((name) => join(folder, name));
    const ran = runTool('systemd-analyze', ['verify', '--man=no', ...files], { env });
    if (!ran) return context.skip('no systemd-analyze: install systemd');
    // What is said of units of this machine is not about ours.
    expect([ran.code, ran.said.split('\n').filter((line) => line.includes('catalogue-'))]).toEqual([0, []]);
  });

  it('are hardened, each of them', (context) => {
    const { folder, env } = copyUnits();
    const files = SERVICES.map((name) => join(folder, name));
    const args = ['security', '--offline=true', '--no-pager', '--threshold=20', ...files];
    const ran = runTool('systemd-analyze', args, { env });
    if (!ran) return context.skip('no systemd-analyze: install systemd');
    expect([ran.code, ran.said]).toEqual([0, expect.stringContaining('Overall exposure level')]);
    const judged = [...ran.said.matchAll(/Overall exposure level for (\S+):/g)].map(([, name]) => name);
    expect(judged.sort()).toEqual(SERVICES.toSorted());
  });

  it('have a bound on memory and processes, and what ends or fails', () => {
    expect(SERVICES.length).toBeGreaterThan(5);
    for (const name of SERVICES) {
      expect([name, list(name, 'MemoryMax').length, list(name, 'TasksMax').length]).toEqual([name, 1, 1]);
      expect([name, list(name, 'User')[0]]).not.toEqual([name, undefined]);
      const [type] = list(name, 'Type');
      expect([name, list(name, type === 'exec' ? 'Restart' : 'TimeoutStartSec').length]).toEqual([name, 1]);
    }
    for (const name of TIMERS) expect(SERVICES).toContain(name.replace('.timer', '.service'));
    // A server that hangs is killed, which systemd counts as a failure.
    expect(list('catalogue-server.service', 'Restart')).toEqual(['on-failure']);
  });

  it('run what npm runs, by the Node of the repository, with arguments that there are', async () => {
    const commands = await loadCommands([]);
    for (const name of SERVICES.filter((service) => service !== HEALTH)) {
      const [program, ...words] = getCommand(name);
      expect(program).toBe('/opt/catalogue/node_modules/node/bin/node');
      const expected = getScriptWords(name === 'catalogue-server.service' ? 'start' : 'catalogue');
      expect(words.slice(0, expected.length)).toEqual(expected);
      const args = words.slice(expected.length);
      if (name === 'catalogue-server.service') {
        expect(args).toEqual([]);
      } else {
        expect(COMMAND_NAMES).toContain(args[0]);
        // Throws for an option that there is not.
        expect(parseCommandLine(commands, args)).toMatchObject({ kind: 'run' });
      }
    }
  });

  it('set only settings that there are, none of which a file of settings then sets otherwise', () => {
    const files: Record<string, Record<string, string | undefined>> = {
      '/etc/catalogue/catalogue.env': parseEnv(readDeployed('systemd/catalogue.env')),
      '/etc/catalogue/payer/payer.env': parseEnv(readDeployed('systemd/payer.env')),
    };
    for (const name of SERVICES) {
      const own = getOwnVariables(name);
      expect([name, own.ENV_FILES]).toEqual([name, 'off']);
      for (const variable of Object.keys(own)) {
        expect([variable, SETTINGS.has(variable) || OTHER_VARIABLES.includes(variable)]).toEqual([variable, true]);
      }
      const named = list(name, 'EnvironmentFile');
      for (const file of named) {
        expect(Object.keys(files)).toContain(file);
        expect(Object.keys(files[file] ?? {}).filter((variable) => variable in own)).toEqual([]);
      }
    }
    for (const variables of Object.values(files)) {
      expect(Object.keys(variables).filter((variable) => !SETTINGS.has(variable))).toEqual([]);
    }
  });

  it('give the keys to the payer alone, who is a user of its own', () => {
    const shared = parseEnv(readDeployed('systemd/catalogue.env'));
    expect(() => refuseKeys(shared)).not.toThrow();
    for (const name of SERVICES) {
      const isPayer = name === 'catalogue-payer.service';
      expect([name, list(name, 'User')]).toEqual([name, [isPayer ? 'catalogue-payer' : 'catalogue']]);
      expect([name, list(name, 'EnvironmentFile').includes('/etc/catalogue/payer/payer.env')]).toEqual([name, isPayer]);
      expect([name, list(name, 'InaccessiblePaths').join().includes('/etc/catalogue/payer')]).toEqual([name, !isPayer]);
      const args = getCommand(name);
      expect([name, args.includes('verify') || args.includes('--pay')]).toEqual([name, isPayer]);
    }
    const payer = readPayerConfig({ ...shared, ...parseEnv(readDeployed('systemd/payer.env')) });
    expect(payer.keys.evm).toEqual({ file: '/etc/catalogue/payer/evm.key' });
    expect(payer.folder).toBe('/var/lib/catalogue-payer');
    // What the metrics show as the cap is the cap.
    expect(shared.MAX_USDC_PER_DAY).toBe(parseEnv(readDeployed('systemd/payer.env')).MAX_USDC_PER_DAY);
  });

  it('write only where they may', () => {
    const { catalogueAddress, publishedFile, siteDir } = readConfig(parseEnv(readDeployed('systemd/catalogue.env')));
    expect(dirname(catalogueAddress)).toBe('/var/lib/catalogue');
    for (const path of [publishedFile, siteDir]) {
      expect(list('catalogue-server.service', 'ReadWritePaths')).toEqual([dirname(path)]);
    }
    expect(readDeployed('nginx.conf')).toContain(`root ${siteDir};`);
    for (const name of SERVICES.filter((service) => service !== HEALTH)) {
      const places = [
        ...list(name, 'StateDirectory').flatMap((value) => value.split(' ').map((folder) => `/var/lib/${folder}`)),
        ...list(name, 'ReadWritePaths'),
      ];
      expect([name, places.includes('/var/lib/catalogue')]).toEqual([name, true]);
      const [cache = ''] = list(name, 'CacheDirectory');
      expect(getOwnVariables(name).NODE_COMPILE_CACHE).toBe(`/var/cache/${cache}/compiled`);
    }
    expect(readdirSync(join(DEPLOY, 'systemd/catalogue-.service.d'))).toEqual(['hardening.conf']);
    expect(readDeployed('systemd/catalogue-.service.d/hardening.conf')).toContain('\nProtectSystem=strict\n');
  });
});

describe('the command of the operator', () => {
  /** Runs the script with something in the place of systemd-run that says how it was called. */
  function run(...args: string[]): string[] {
    const folder = makeFolder();
    writeFileSync(join(folder, 'systemd-run'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const { code, said = '' } = runTool(join(DEPLOY, 'systemd/catalogue.sh'), args, { env }) ?? {};
    expect(code).toBe(0);
    return said.trimEnd().split('\n');
  }

  it('runs what npm runs, with the arguments as they were given', () => {
    const called = run('import', 'a file', '--json');
    const words = ['--', '/opt/catalogue/node_modules/node/bin/node', ...getScriptWords('catalogue')];
    expect(called.slice(called.indexOf('--'))).toEqual([...words, 'import', 'a file', '--json']);
    expect(called).toContain('--setenv=ENV_FILES=off');
  });

  it('has the keys where a command reads them, and nowhere else', () => {
    for (const name of COMMAND_NAMES) {
      const reads = ['verify', 'receipts', 'check'].includes(name);
      const called = run(name);
      expect([name, called.includes(`--uid=${reads ? 'catalogue-payer' : 'catalogue'}`)]).toEqual([name, true]);
      expect([name, called.some((word) => word.includes('payer.env'))]).toEqual([name, reads]);
    }
  });
});
