import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfig, readEnvironment, readPayerConfig, refuseKeys, SETTINGS, type SettingRow } from '../src/config.ts';
import { ServiceError } from '../src/errors.ts';
import { makeFolder } from './builders.ts';

const MANUAL = join(import.meta.dirname, '../src/docs/operating.md');

/** Formats settings as a file to copy: each with its meaning above it. `vitest run test/config.test.ts --update` writes it. */
function formatExample(intro: string, rows: readonly SettingRow[]): string {
  const comment = (text: string) => text.replace(/(.{1,126})(?: |$)/g, '# $1\n');
  const lines = rows.map(({ name, standard, meaning }) => `${comment(meaning)}${name}=${standard}\n`);
  return `${comment(intro)}\n${lines.join('')}`;
}

/** Formats all settings as the table of the manual. */
function formatSettings(): string {
  const lines = [...SETTINGS.service, ...SETTINGS.payer].map(({ name, standard, meaning }) => [
    `\`${name}\``,
    standard && `\`${standard}\``,
    meaning.replace(/[\w:/.@]*<[^>]+>[\w.]*|\S*:\/\/\S*\w|~?\/\.\S*\w/g, '`$&`'),
  ]);
  const rows = [['setting', 'default', 'meaning'], ...lines];
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const [head = '', ...others] = rows.map(
    (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n');
}

describe('settings', () => {
  it('have defaults that serve on loopback', () => {
    expect(readConfig({})).toMatchObject({
      baseUrl: 'http://localhost:4321',
      host: '127.0.0.1',
      port: 4321,
      rateLimit: 600,
    });
    expect(readConfig({ PORT: '8080', BASE_URL: '' }).baseUrl).toBe('http://localhost:8080');
    expect(readConfig({ BASE_URL: 'https://apis.example/' }).baseUrl).toBe('https://apis.example');
  });

  it.each([
    ['PORT', '99999'],
    ['PORT', 'http'],
    ['METRICS_PORT', '70000'],
    ['BASE_URL', 'apis.example'],
    ['BASE_URL', 'https://apis.example/?x=1'],
    ['BASE_URL', 'https://apis.example/catalogue'],
    ['BASE_URL', 'https://apis.example/?'],
    ['BASE_URL', 'https://apis.example?'],
    ['BASE_URL', 'https://apis.example/#'],
    ['BASE_URL', 'https://apis.example//'],
    ['BASE_URL', 'https://:pw@apis.example'],
    ['BASE_URL', 'https://@apis.example'],
    ['BASE_URL', 'https://user@apis.example'],
    ['BASE_URL', 'https:apis.example'],
    ['BASE_URL', 'https:/apis.example'],
    ['BASE_URL', ' https://apis.example'],
    ['BASE_URL', 'https://apis.example '],
    ['BASE_URL', 'https://ap is.example'],
    ['BASE_URL', 'https://apis.example:port'],
    ['BASE_URL', 'https://apis.example:99999'],
    ['BASE_URL', 'ftp://apis.example'],
    ['BASE_URL', 'https://'],
    ['CONTACT_URL', 'https:apis.example'],
    ['CONTACT_URL', 'https://apis.example/con tact'],
    ['CONTACT_URL', 'https://:pw@apis.example/contact'],
    ['PROBE', 'yes'],
    ['RATE_LIMIT', '-1'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '0.0.0.0/0'],
    ['TRUSTED_PROXIES', 'loopback,,10.0.0.1'],
    ['TRUSTED_PROXIES', 'Loopback'],
    ['ALLOW_PRIVATE_NETWORKS', 'true'],
    ['LOG_LEVEL', 'loud'],
  ])('stop the start when %s is %s, naming it and what it takes', (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(ServiceError);
    expect(read).toThrow(`The setting ${name} has the value "${value}"`);
  });

  it('say so in one line, whatever the value', () => {
    for (const value of [
      'https://apis.ex\nample',
      'https://apis.example\n',
      '\thttps://apis.example',
      'https:\\\\apis.example',
    ]) {
      expect(() => readConfig({ BASE_URL: value })).toThrow(/^The setting BASE_URL has the value "[^\n\t]*", which it/);
    }
  });

  it.each([
    ['https://APIS.Example:8443/', 'https://apis.example:8443'],
    ['HTTPS://apis.example:443', 'https://apis.example'],
    ['http://localhost:4321', 'http://localhost:4321'],
    ['http://[::1]:4321/', 'http://[::1]:4321'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('write BASE_URL %s as %s', (given, written) => {
    expect(readConfig({ BASE_URL: given }).baseUrl).toBe(written);
  });

  it('take CONTACT_URL with a path', () => {
    expect(readConfig({ CONTACT_URL: 'https://apis.example/@us/contact' }).contactUrl).toBe(
      'https://apis.example/@us/contact',
    );
  });

  it('ask for BASE_URL where the port is not known before', () => {
    expect(() => readConfig({ PORT: '0' })).toThrow('PORT is 0, that is any free port, but BASE_URL is not set');
    expect(readConfig({ PORT: '0', BASE_URL: 'https://apis.example' })).toMatchObject({ port: 0 });
  });

  it('serve metrics where a port is set for them, on loopback if nothing else is said', () => {
    expect(readConfig({ METRICS_HOST: '10.0.0.1' }).metrics).toBeNull();
    expect(readConfig({ METRICS_PORT: '9464' }).metrics).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(readConfig({ METRICS_PORT: '0', METRICS_HOST: '::1' }).metrics).toEqual({ host: '::1', port: 0 });
  });

  it('ask for BASE_URL and CONTACT_URL where others can reach the service', () => {
    const read = (settings: Record<string, string>) => () => readConfig({ HOST: '0.0.0.0', ...settings });
    const BASE_URL = 'https://apis.example';
    const CONTACT_URL = 'https://apis.example/contact';
    expect(read({ CONTACT_URL })).toThrow('BASE_URL is not set');
    for (const unset of [{}, { CONTACT_URL: '' }]) {
      expect(read({ BASE_URL, ...unset })).toThrow(
        'HOST is 0.0.0.0, which others can reach, but CONTACT_URL is not set.',
      );
    }
    expect(read({ BASE_URL })).toThrow(
      expect.objectContaining({ reason: 'bad_setting', hint: expect.stringContaining('https://apis.example/contact') }),
    );
    expect(read({ BASE_URL, CONTACT_URL })()).toMatchObject({ baseUrl: BASE_URL, contactUrl: CONTACT_URL });
    for (const HOST of ['127.0.0.1', 'localhost', '::1']) expect(readConfig({ HOST }).host).toBe(HOST);
  });

  it('cannot be changed once read', () => {
    expect(() => Object.assign(readConfig({}), { port: 1 })).toThrow(TypeError);
  });

  it('are all in .env.example and in the table of the manual, with their defaults', async () => {
    const intro =
      'Every setting with its default. Copy this file to .env, or set them in the environment, which wins; an empty value ' +
      'counts as unset. Settings of the wallet go into .env.payer (.env.payer.example): with any of them in here nothing ' +
      'serves or probes.';
    const payerIntro =
      'Paying for real calls: every setting with its default. Copy this file to .env.payer and run chmod 600 .env.payer. ' +
      'Only verify, receipts and check read it, and no process that serves or probes.';
    const example = formatExample(intro, SETTINGS.service);
    const payer = formatExample(payerIntro, SETTINGS.payer);
    await expect(example).toMatchFileSnapshot('../.env.example');
    await expect(payer).toMatchFileSnapshot('../.env.payer.example');
    const manual = readFileSync(MANUAL, 'utf8');
    const table = `<!-- settings -->\n\n${formatSettings()}\n\n<!-- /settings -->`;
    const written = manual.replace(/<!-- settings -->.*<!-- \/settings -->/s, () => table);
    await expect(written).toMatchFileSnapshot(MANUAL);
    expect(readConfig(parseEnv(example))).toEqual(readConfig({}));
    expect(readPayerConfig(parseEnv(payer))).toEqual(readPayerConfig({}));
  });

  it('asks two nodes of a network where two are set, and takes one address twice for one', () => {
    const [one, two] = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
    const settings = { EVM_RPC_URL: one, EVM_RPC_URL_SECOND: one, SOLANA_RPC_URL: one, SOLANA_RPC_URL_SECOND: two };
    expect(readPayerConfig(settings).rpcUrls).toMatchObject({ base: [one], solana: [one, two] });
  });
});

describe('files of settings', () => {
  const KEY = `0x${'1'.repeat(64)}`;

  /** Returns what `read` says in a working folder that holds these files, and in no other environment than this one. */
  function readIn(files: Record<string, string>, env: Record<string, string>, read: () => unknown): unknown {
    const [before, folder] = [{ folder: process.cwd(), env: process.env }, makeFolder()];
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
    process.chdir(folder);
    process.env = { ...env };
    try {
      return read();
    } finally {
      process.env = before.env;
      process.chdir(before.folder);
    }
  }

  it('lie beneath the environment, in which an empty value counts as unset', () => {
    const files = { '.env': 'PORT=5000\nRATE_LIMIT=7\nSERVICE_TITLE="A title"\n' };
    const read = () => {
      const { port, rateLimit, serviceTitle } = readConfig();
      return [port, rateLimit, serviceTitle];
    };
    expect(readIn(files, {}, read)).toEqual([5000, 7, 'A title']);
    expect(readIn(files, { PORT: '6000', RATE_LIMIT: '' }, read)).toEqual([6000, 600, 'A title']);
    expect(readIn(files, { ENV_FILES: 'off' }, read)).toEqual([4321, 600, 'Agent-Payable APIs']);
    expect(readIn({}, {}, read)).toEqual([4321, 600, 'Agent-Payable APIs']);
  });

  it('give the key to who pays alone, and leave nothing in the environment of child processes', () => {
    const files = {
      '.env.payer': `PAYER_EVM_PRIVATE_KEY=${KEY}\nEVM_RPC_URL=http://127.0.0.1:9\n`,
      '.env': 'PORT=5000',
    };
    expect(readIn(files, {}, () => readPayerConfig().keys.evm)).toEqual({ key: KEY });
    const listOthers = () => Object.keys(readEnvironment()).filter((name) => name.startsWith('PAYER_'));
    expect(readIn(files, {}, listOthers)).toEqual([]);
    expect(readIn(files, {}, refuseKeys)).toBeUndefined();
    expect(readIn(files, {}, () => readPayerConfig() && { ...process.env })).toEqual({});
  });

  it.each([
    ['the environment', {}, { PAYER_EVM_PRIVATE_KEY: KEY }],
    ['.env', { '.env': `PAYER_EVM_PRIVATE_KEY=${KEY}` }, {}],
  ])('are where keys belong: one in %s is refused, and said without its value', (place, files, env) => {
    const said = readIn(files, env, () => {
      try {
        return refuseKeys();
      } catch (error) {
        const { reason, message, hint } = error as ServiceError;
        return `${reason} ${message} ${hint}`;
      }
    });
    expect(said).toContain(`keys_exposed PAYER_EVM_PRIVATE_KEY is set in ${place}, `);
    expect(said).toContain('.env.payer');
    expect(said).not.toContain(KEY);
  });

  it('are refused where others can read the key, and where they cannot be read', () => {
    const files = { '.env.payer': `PAYER_EVM_PRIVATE_KEY=${KEY}` };
    const open = () => {
      chmodSync('.env.payer', 0o644);
      return readPayerConfig();
    };
    const isOpen = /^The key file \S+ is open to others than its owner\.$/;
    expect(() => readIn(files, {}, open)).toThrow(
      expect.objectContaining({
        ...{ reason: 'key_file_open', message: expect.stringMatching(isOpen) },
        hint: expect.stringMatching(/^chmod 600 /),
      }),
    );
    const readFolder = () => {
      mkdirSync('.env');
      return readConfig();
    };
    expect(() => readIn({}, {}, readFolder)).toThrow(
      expect.objectContaining({
        ...{
          reason: 'bad_setting',
          message: expect.stringMatching(/^The file of settings \S+ cannot be read \(EISDIR\)/),
        },
      }),
    );
  });
});
