import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadCommands } from '../../src/cli/index.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { readConfig, refuseKeys } from '../../src/config.ts';
import { getScriptWords, OTHER_VARIABLES, ROOT, readDeployed, SETTINGS } from './tools.ts';

interface Service {
  readonly image: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly volumes?: string[];
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
  readonly mem_limit?: string;
  readonly profiles?: string[];
  readonly restart?: string;
  readonly depends_on?: Record<string, unknown> | string[];
}

const COMPOSE = parse(readDeployed('compose.yaml'), { merge: true });
const SERVICES: Record<string, Service> = COMPOSE.services;
const OURS = Object.entries(SERVICES).filter(([, { image }]) => image === 'catalogue');
const CONTAINERFILE = readDeployed('Containerfile');

/** The environment of a service as Compose would give it, with values for what its caller sets. */
function getEnvironment({ environment = {} }: Service): Record<string, string> {
  const given: Record<string, string> = {
    BASE_URL: 'https://apis.example',
    CONTACT_URL: 'https://apis.example/contact',
    POSTGRES_PASSWORD: 'secret',
  };
  const fill = (value: string) => value.replace(/\$\{(\w+)(?::[?-][^}]*)?\}/g, (_, name: string) => given[name] ?? '');
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(String(value))]));
}

describe('the container file', () => {
  it('starts what npm starts, as a user without rights, and sets only what there is', () => {
    const commands = [...CONTAINERFILE.matchAll(/^CMD (\[.*\])$/gm)].map(([, words = '']) => JSON.parse(words));
    expect(commands).toEqual([['node', ...getScriptWords('start')]]);
    expect(CONTAINERFILE.match(/^USER .*/gm)).toEqual(['USER node']);
    const variables = [...CONTAINERFILE.matchAll(/\b([A-Z][A-Z_]+)=\S/g)].map(([, name = '']) => name);
    expect(variables.length).toBeGreaterThan(4);
    expect(variables.filter((name) => !SETTINGS.has(name) && !OTHER_VARIABLES.includes(name))).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const [, name = ''] of CONTAINERFILE.matchAll(/npm run ([\w:]+)/g))
      expect(Object.keys(scripts)).toContain(name);
    const exposed = /^EXPOSE (.*)$/m.exec(CONTAINERFILE)?.[1]?.split(' ');
    expect(exposed).toContain(String(readConfig({}).port));
    expect(CONTAINERFILE).toContain(`http://127.0.0.1:${readConfig({}).port}/healthz`);
  });

  it('leaves out what is private, and what is made', () => {
    const ignored = readDeployed('Containerfile.dockerignore').split('\n');
    for (const name of ['.env', '.env.payer', '.git', 'node_modules', 'dist', 'data/*.sqlite*']) {
      expect(ignored).toContain(name);
    }
  });
});

describe('the Compose file', () => {
  it('has a database, two servers, a prober and a proxy', () => {
    expect(Object.keys(SERVICES)).toEqual(
      expect.arrayContaining(['postgres', 'server-1', 'server-2', 'prober', 'figures', 'payer', 'proxy', 'prometheus']),
    );
  });

  it('runs commands that there are', async () => {
    const commands = await loadCommands([]);
    for (const [name, { command }] of OURS) {
      if (name.startsWith('server-')) expect(command).toBeUndefined();
      else {
        const words = ['node', ...getScriptWords('catalogue')];
        expect([name, command?.slice(0, words.length)]).toEqual([name, words]);
        expect(parseCommandLine(commands, command?.slice(words.length) ?? [])).toMatchObject({ kind: 'run' });
      }
    }
  });

  it('gives each process settings that there are and that it takes, and keys to the payer alone', () => {
    for (const [name, service] of OURS) {
      const environment = getEnvironment(service);
      expect([name, Object.keys(environment).filter((variable) => !SETTINGS.has(variable))]).toEqual([name, []]);
      expect([name, readConfig(environment).baseUrl]).toEqual([name, 'https://apis.example']);
      expect([name, environment.CATALOGUE]).toEqual([name, 'postgres://catalogue:secret@postgres:5432/catalogue']);
      if (name === 'payer') expect(() => refuseKeys(environment)).toThrow();
      else expect(() => refuseKeys(environment)).not.toThrow();
    }
    expect(SERVICES.payer?.profiles).toEqual(['payer']);
  });

  it('has one server check what providers name, which the other one asks', () => {
    const [first, second] = ['server-1', 'server-2'].map((name) => getEnvironment(SERVICES[name] as Service));
    expect([first?.INTAKE, second?.INTAKE]).toEqual(['on', `http://server-1:${first?.PORT}`]);
    expect(SERVICES['server-1']?.volumes).toContain('submissions:/submissions');
  });

  it('bounds each process, and lets ours write to their own folder alone', () => {
    const folders = OURS.flatMap(([, { volumes = [] }]) => volumes.filter((volume) => volume.endsWith(':/data')));
    expect(new Set(folders).size).toBe(folders.length);
    // Compose does not restart what is unhealthy, but it does restart a server that hangs, because that kills itself.
    for (const [name, { restart }] of OURS)
      expect([name, restart]).toEqual([name, name === 'payer' ? 'no' : 'unless-stopped']);
    for (const [name, { read_only, cap_drop }] of OURS) {
      expect([name, read_only, cap_drop]).toEqual([name, true, ['ALL']]);
    }
    for (const [name, { mem_limit }] of Object.entries(SERVICES)) {
      expect([name, mem_limit]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
    }
    const named = Object.values(SERVICES)
      .flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
      .filter((source) => /^[a-z]/.test(source));
    expect(new Set(named)).toEqual(new Set(Object.keys(COMPOSE.volumes)));
  });

  it('has the proxy and Prometheus ask where the processes listen', () => {
    const servers = OURS.filter(([name]) => name.startsWith('server-'));
    const upstreams = [...readDeployed('balance.conf').matchAll(/^ {2}server (\S+):(\d+) /gm)].map(([, host, port]) => [
      host,
      port,
    ]);
    expect(upstreams).toEqual(servers.map(([name, service]) => [name, getEnvironment(service).PORT]));
    const jobs: { static_configs: { targets: string[] }[] }[] = parse(
      readDeployed('prometheus/compose.yml'),
    ).scrape_configs;
    const targets = jobs.flatMap(({ static_configs }) => static_configs.flatMap((config) => config.targets));
    const watched = OURS.filter(([, { environment = {} }]) => 'METRICS_PORT' in environment);
    expect(targets).toEqual(watched.map(([name, service]) => `${name}:${getEnvironment(service).METRICS_PORT}`));
    for (const volume of [...(SERVICES.proxy?.volumes ?? []), ...(SERVICES.prometheus?.volumes ?? [])]) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('./')) expect(readDeployed(source.slice(2)).length).toBeGreaterThan(100);
    }
  });
});
