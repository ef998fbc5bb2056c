import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import proxyaddr from 'proxy-addr';
import { z } from 'zod';
import { ServiceError } from './errors.ts';
import { isPostgresAddress } from './model/catalogue-address.ts';
import { type Family, NETWORKS, type NetworkKey } from './model/network.ts';
import { parseUsdc } from './model/usdc.ts';

type Environment = Readonly<NodeJS.ProcessEnv>;

/**
 * Reads the environment, and beneath it `.env` of the working folder; `payer` adds `.env.payer`. A value in the
 * environment wins, even an empty one, and with `ENV_FILES=off` there is nothing else. Nothing is written back, so child
 * processes do not inherit what the files hold. Throws `bad_input` for a file that cannot be read, and `refused`
 * (`key_file_open`) for a `.env.payer` that others than its owner may read or write.
 */
export function readEnvironment({ payer = false } = {}): Environment {
  if (process.env.ENV_FILES === 'off') return process.env;
  return { ...readEnvFile('.env'), ...(payer && readEnvFile('.env.payer', { isSecret: true })), ...process.env };
}

function readEnvFile(name: string, { isSecret = false } = {}): Environment {
  const file = resolve(name);
  try {
    if (isSecret && (statSync(file).mode & 0o077) !== 0) {
      throw new ServiceError('refused', `The key file ${file} is open to others than its owner.`, {
        hint: `chmod 600 ${file}`,
        reason: 'key_file_open',
      });
    }
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const word = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (word === 'ENOENT') return {};
    throw buildRefusal(
      `The file of settings ${file} cannot be read (${word}).`,
      'Give its owner the right to read it, or move it away.',
    );
  }
}

/** Gives an environment without empty values: those count as unset. */
function listGiven(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

/**
 * Throws `refused` (`keys_exposed`) where the payer's settings are in the environment or in `.env`. A process that serves
 * or probes talks to hostile hosts, so it must not hold a key.
 */
export function refuseKeys(env: Environment = readEnvironment()): void {
  const name = Object.keys(listGiven(env)).find((key) => key.startsWith('PAYER_'));
  if (name === undefined) return;
  const place = process.env[name] ? 'the environment' : '.env';
  throw new ServiceError('refused', `${name} is set in ${place}, and a process that serves or probes takes no key.`, {
    hint: 'Put every setting that begins with PAYER_ into .env.payer, which only verify, receipts and check read.',
    reason: 'keys_exposed',
  });
}

/** Returns an environment without the payer's settings, and without what leads to the catalogue: its address and settings of PostgreSQL. */
export function withoutSecrets(env: Environment): Environment {
  const isSecret = (name: string) => name in payerSettings.shape || /^(?:CATALOGUE$|PG|POSTGRES)/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret(name)));
}

/** True if npm started this process as its own child: then the process must end when npm does. */
export function isRunByNpm(): boolean {
  return process.env.npm_lifecycle_event !== undefined;
}

/** Says whether a host, as a setting or a URL spells it, is one that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|::1|\[::1\])$/.test(host);
}

/**
 * Full spelling of an address: the URL parser itself mends blanks, line breaks, backslashes and missing slashes
 * silently.
 */
const WRITTEN_OUT = /^https?:\/\/[^\s\\?#]+$/i;

const httpUrl = z.string().refine((text) => {
  const url = WRITTEN_OUT.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === '' && url.password === '';
}, 'an http(s) address without query, fragment or user name');

/** Scheme, host and port and nothing else, since pages link from the root; one trailing slash does no harm. */
const origin = z.string().transform((text, context) => {
  const url = /^https?:\/\/[^\s\\/?#@]+\/?$/i.test(text) ? URL.parse(text) : null;
  if (!url) context.addIssue('an http(s) address of scheme, host and port alone, such as https://apis.example');
  return url?.origin ?? '';
});

/** Any http(s) address: of a node, which may carry a key of the operator's in its path or query. */
const httpAddress = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'an http(s) address');

const onOff = z.enum(['on', 'off'], 'on or off').transform((value) => value === 'on');

/**
 * Addresses of proxies, separated by commas. All is checked here, since one network misread would let anybody name
 * their own address.
 */
const proxies = z.string().transform((text, context) => {
  const names = text.split(',').map((part) => part.trim());
  try {
    proxyaddr.compile(names);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    context.addIssue(
      'addresses or networks such as 192.0.2.1, 10.0.0.0/8, or loopback, linklocal, uniquelocal, by commas',
    );
  }
  return names;
});

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, 'a port number from 0 to 65535')
  .transform(Number)
  .refine((port) => port <= 65_535, 'a port number from 0 to 65535');

/**
 * Every setting of the serving and operating side: what it takes, its default as it would be written, and its meaning. A
 * value that it cannot take is answered with the message of its schema.
 */
const settings = z.object({
  BASE_URL: origin
    .optional()
    .describe(
      'Public address of the service: scheme, host and port alone. Default: http://localhost:<PORT> while HOST is loopback, ' +
        'required otherwise. Every address the service writes about itself starts with it.',
    ),
  HOST: z.string().min(1).prefault('127.0.0.1').describe('Where the server listens.'),
  PORT: portNumber.prefault('4321').describe('Its port. 0 is any free port, and only goes with BASE_URL.'),
  METRICS_HOST: z
    .string()
    .min(1)
    .prefault('127.0.0.1')
    .describe(
      'Where this process serves metrics for Prometheus: the server, or the command metrics. Behind a firewall it can be an ' +
        'address that Prometheus reaches from another machine.',
    ),
  METRICS_PORT: portNumber.optional().describe('The port of the metrics. Without one none are served.'),
  CATALOGUE: z
    .string()
    .min(1)
    .refine(
      (address) => !isPostgresAddress(address) || URL.canParse(address),
      'a file, or an address such as postgres://user:password@host/name in which special characters are encoded (%23 for #)',
    )
    .prefault('data/catalogue.sqlite')
    .describe(
      'The catalogue: a file, or a PostgreSQL database such as postgres://user:password@host/name, which several machines can ' +
        'share.',
    ),
  PUBLISHED: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The published catalogue, which is served: a file made from the catalogue, with nothing private in it. Default: ' +
        'published.sqlite beside a catalogue.sqlite, data/published.sqlite for a catalogue in PostgreSQL, else the ' +
        "catalogue's name with .published behind it.",
    ),
  SUBMISSIONS: z
    .string()
    .min(1)
    .optional()
    .describe(
      "What providers submitted, and what was checked. The prober and the operator's commands read it. Default: " +
        'submissions.sqlite beside a catalogue.sqlite, data/submissions.sqlite for a catalogue in PostgreSQL, else the ' +
        "catalogue's name with .submissions behind it.",
    ),
  SITE: z
    .string()
    .min(1)
    .prefault('dist/site')
    .describe(
      'Folder of the pages, each under its address (api/<slug>.html), as any server of files can send them. Beside it are ' +
        'the record of them (<SITE>.sqlite) and the copy of the catalogue for download (<SITE>.download).',
    ),
  SERVICE_TITLE: z.string().min(1).max(80).prefault('Agent-Payable APIs').describe('The name of the service.'),
  CONTACT_NAME: z
    .string()
    .min(1)
    .max(80)
    .prefault('Catalogue maintainers')
    .describe('Whom to write to. Pages and /.well-known/security.txt name it.'),
  CONTACT_URL: httpUrl
    .optional()
    .describe('The http(s) address of a page for that, required where HOST is not loopback.'),
  PROBE: onOff.prefault('off').describe('on: npm start asks listed routes as they fall due, in a process of its own.'),
  INTAKE: z
    .union([z.enum(['on', 'off']), origin], 'on, off, or the http address of the server that checks')
    .optional()
    .describe(
      'on: providers can check and list at /submit; a process of its own does it, while it is asked. off: they cannot. Or the ' +
        'http address of another server where it is on, which is asked. Default: on while BASE_URL is of this machine alone, ' +
        'else off.',
    ),
  RATE_LIMIT: z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number of requests a minute; 0 is off')
    .transform(Number)
    .prefault('600')
    .describe(
      'Requests a minute for each client, pages included; a search counts 2, a document of the whole catalogue or a picture ' +
        '10. 0 is off.',
    ),
  TRUSTED_PROXIES: proxies
    .optional()
    .describe(
      'Proxies whose X-Forwarded-For names the client: their addresses and networks, or loopback, linklocal, uniquelocal, ' +
        'separated by commas. Default: none, so that the client is the other end of the connection. Behind a proxy this must ' +
        'be set.',
    ),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .prefault('info')
    .describe(`${LOG_LEVELS.slice(0, -1).join(', ')} or ${LOG_LEVELS.at(-1)}.`),
  ALLOW_PRIVATE_NETWORKS: onOff
    .prefault('off')
    .describe('on: addresses of sources may be private or plain http. For demonstrations and tests only.'),
});

/** The frozen settings of one process. Paths are absolute; `baseUrl` has no trailing slash. */
export interface Config {
  readonly baseUrl: string;
  readonly host: string;
  readonly port: number;
  /** Place of the catalogue: a file, or the address of a PostgreSQL database (`postgres://…`). */
  readonly catalogueAddress: string;
  /** Address at which Prometheus finds the metrics of the process; null if none are served. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** The published catalogue that this process serves: a file that is made from the catalogue. */
  readonly publishedFile: string;
  /** The submissions of the intake: a file that it alone writes, but for the refusals of the operator. */
  readonly submissionsFile: string;
  /** The folder of the pages, each under its address. */
  readonly siteDir: string;
  readonly serviceTitle: string;
  readonly contactName: string;
  /** Address at which people write to the operator; the same as `baseUrl` if none is set. */
  readonly contactUrl: string;
  readonly probe: boolean;
  /** Whether providers can check and list: `on`, `off`, or the address of another server where it is on. */
  readonly intake: string;
  readonly trustedProxies: readonly string[];
  /** Requests a minute for each client; 0 is off. */
  readonly rateLimit: number;
  readonly allowPrivateNetworks: boolean;
  readonly logLevel: string;
}

/**
 * Reads the settings and freezes them. An empty value counts as unset. Throws `bad_input` naming the setting and what
 * it takes. `BASE_URL` and `CONTACT_URL` may only be left out while `HOST` is loopback, and `BASE_URL` only while
 * `PORT` is a fixed one.
 */
export function readConfig(env: Environment = readEnvironment()): Config {
  const parsed = settings.safeParse(listGiven(env));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    throw buildRefusal(
      `The setting ${name} has the value ${JSON.stringify(env[name])}, which it cannot take.`,
      `${name} takes ${describeExpectation(issue?.message)}; .env.example lists every setting.`,
    );
  }
  const read = parsed.data;
  if (!isLoopback(read.HOST)) {
    const open = `HOST is ${read.HOST}, which others can reach`;
    if (!read.BASE_URL) {
      throw buildRefusal(
        `${open}, but BASE_URL is not set.`,
        'Set BASE_URL to the public address of the service, such as https://apis.example.',
      );
    }
    if (!read.CONTACT_URL) {
      throw buildRefusal(
        `${open}, but CONTACT_URL is not set.`,
        'Set CONTACT_URL to the http(s) address of a page where people can write to you, such as https://apis.example/contact.',
      );
    }
  }
  if (!read.BASE_URL && read.PORT === 0) {
    throw buildRefusal(
      'PORT is 0, that is any free port, but BASE_URL is not set.',
      'Set BASE_URL to the address of the service, or PORT to one port: what it writes about itself names it.',
    );
  }
  const hostInUrl = read.HOST.includes(':') ? `[${read.HOST}]` : read.HOST;
  const baseUrl = read.BASE_URL ?? `http://${read.HOST === '127.0.0.1' ? 'localhost' : hostInUrl}:${read.PORT}`;
  return Object.freeze({
    baseUrl,
    host: read.HOST,
    port: read.PORT,
    catalogueAddress: isPostgresAddress(read.CATALOGUE) ? read.CATALOGUE : resolve(read.CATALOGUE),
    metrics: read.METRICS_PORT === undefined ? null : { host: read.METRICS_HOST, port: read.METRICS_PORT },
    publishedFile: resolve(read.PUBLISHED ?? getNameBeside(read.CATALOGUE, 'published')),
    submissionsFile: resolve(read.SUBMISSIONS ?? getNameBeside(read.CATALOGUE, 'submissions')),
    siteDir: resolve(read.SITE),
    serviceTitle: read.SERVICE_TITLE,
    contactName: read.CONTACT_NAME,
    contactUrl: read.CONTACT_URL ?? baseUrl,
    probe: read.PROBE,
    intake: read.INTAKE ?? (isLoopback(new URL(baseUrl).hostname) ? 'on' : 'off'),
    trustedProxies: read.TRUSTED_PROXIES ?? [],
    rateLimit: read.RATE_LIMIT,
    allowPrivateNetworks: read.ALLOW_PRIVATE_NETWORKS,
    logLevel: read.LOG_LEVEL,
  });
}

/**
 * Returns the default of a file that goes with a catalogue: `published.sqlite` beside `catalogue.sqlite`; beside a catalogue of
 * another name one that is named after it.
 */
function getNameBeside(catalogue: string, kind: 'published' | 'submissions'): string {
  if (isPostgresAddress(catalogue)) return `data/${kind}.sqlite`;
  const name = basename(catalogue);
  return join(dirname(catalogue), name === 'catalogue.sqlite' ? `${kind}.sqlite` : `${name}.${kind}`);
}

function describeExpectation(message = 'another value'): string {
  return message.replace(/^Invalid (input|option): expected /, '').replace(/\.$/, '');
}

function buildRefusal(message: string, hint: string): ServiceError {
  return new ServiceError('bad_input', message, { hint, reason: 'bad_setting' });
}

const usdc = z
  .string()
  .transform((text, context) => {
    const amount = parseUsdc(text);
    if (amount === undefined) context.addIssue('a decimal amount of USDC, such as 0.10');
    return amount ?? 0;
  })
  .pipe(z.int().nonnegative());

type NodeSetting = (typeof NETWORKS)[NetworkKey]['nodeSetting'];

/** The settings of each network's nodes: of one, and of a second. */
const NODE_SETTINGS = Object.fromEntries(
  Object.values(NETWORKS).flatMap(({ nodeSetting, label }) => [
    [nodeSetting, httpAddress.optional().describe(`A node of ${label}.`)],
    [
      `${nodeSetting}_SECOND`,
      httpAddress
        .optional()
        .describe(
          `A second node of ${label}: then only what both say alike is believed. Without one, a payment that did not settle ` +
            'counts as spent for a day.',
        ),
    ],
  ]),
) as Record<NodeSetting | `${NodeSetting}_SECOND`, z.ZodOptional<typeof httpAddress>>;

/** Every setting for paying, in the same form. */
const payerSettings = z.object({
  PAYER_EVM_PRIVATE_KEY: z.string().optional().describe('A wallet on Base: 64 hexadecimal digits.'),
  PAYER_EVM_KEY_FILE: z.string().optional().describe('Or a file that holds them and that only its owner can read.'),
  PAYER_SOLANA_PRIVATE_KEY: z.string().optional().describe('A wallet on Solana: base 58 or a JSON array of bytes.'),
  PAYER_SOLANA_KEY_FILE: z.string().optional().describe('Or a file that holds it.'),
  ...NODE_SETTINGS,
  PAYER_STOP_FILE: z
    .string()
    .optional()
    .describe('While this file exists nothing is paid; nor while it cannot be looked at, or its folder is missing.'),
  PAYER_FOLDER: z
    .string()
    .optional()
    .describe(
      'Journal and lock of each wallet, one folder for all that pay from it. Default: ~/.local/state/agent-payable-payer',
    ),
  MAX_USDC_PER_CALL: usdc.prefault('0.10').describe('What may be spent at most on one call, in USDC.'),
  MAX_USDC_PER_DAY: usdc
    .prefault('5')
    .describe('What may be spent at most on one UTC day by the clock of the chain, in USDC.'),
});

/** A setting as documents list it. */
export interface SettingRow {
  readonly name: string;
  /** As it would be written; empty where it is unset, or its meaning says the default. */
  readonly standard: string;
  readonly meaning: string;
}

function listRows({ shape }: z.ZodObject): SettingRow[] {
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    standard: schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : '',
    meaning: schema.description ?? '',
  }));
}

/** The settings of `.env` and those of `.env.payer`. */
export const SETTINGS: Readonly<Record<'service' | 'payer', readonly SettingRow[]>> = {
  service: listRows(settings),
  payer: listRows(payerSettings),
};

/** Source of a wallet's key: the key itself, or the file that holds it. */
export type KeySource = { key: string } | { file: string };

/**
 * Settings for paying, read by `verify` and `receipts` alone, never by the serving process. Amounts are atomic USDC.
 */
export interface PayerConfig {
  /** The wallet of each family. */
  readonly keys: Readonly<Record<Family, KeySource | null>>;
  /** Holds journal and lock of each wallet: one folder for all that pay from it on this machine. */
  readonly folder: string;
  /** File that stops all payments while it exists. */
  readonly stopFile: string | null;
  /** The nodes of each network: none, one or two. */
  readonly rpcUrls: Readonly<Record<NetworkKey, readonly string[]>>;
  readonly maxPerCall: number;
  readonly maxPerDay: number;
}

/**
 * Reads the payer's settings. Throws `bad_input` naming the setting and what it takes, and never repeats a value: keys
 * are secret, and so may addresses of nodes be.
 */
export function readPayerConfig(env: Environment = readEnvironment({ payer: true })): PayerConfig {
  const parsed = payerSettings.safeParse(listGiven(env));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw buildRefusal(
      `The setting ${String(issue?.path[0])} has a value that it cannot take.`,
      `It takes ${describeExpectation(issue?.message)}; .env.payer.example lists every setting.`,
    );
  }
  const read = parsed.data;
  return Object.freeze({
    keys: {
      evm: getKeySource(read.PAYER_EVM_PRIVATE_KEY, read.PAYER_EVM_KEY_FILE),
      svm: getKeySource(read.PAYER_SOLANA_PRIVATE_KEY, read.PAYER_SOLANA_KEY_FILE),
    },
    folder: resolve(read.PAYER_FOLDER ?? join(homedir(), '.local', 'state', 'agent-payable-payer')),
    stopFile: read.PAYER_STOP_FILE === undefined ? null : resolve(read.PAYER_STOP_FILE),
    rpcUrls: Object.fromEntries(
      Object.values(NETWORKS).map(({ key, nodeSetting }) => [
        key,
        listUrls(read[nodeSetting], read[`${nodeSetting}_SECOND`]),
      ]),
    ) as Record<NetworkKey, string[]>,
    maxPerCall: read.MAX_USDC_PER_CALL,
    maxPerDay: read.MAX_USDC_PER_DAY,
  });
}

/**
 * Reads the cap on the cost of a day, in atomic USDC, for a process that only shows it: from the environment and
 * `.env`, never from the file that holds keys. Undefined if it is not set there. Throws as `readPayerConfig` does.
 */
export function findDayCap(env: Environment = readEnvironment()): number | undefined {
  const { MAX_USDC_PER_DAY } = listGiven(env);
  return MAX_USDC_PER_DAY === undefined ? undefined : readPayerConfig({ MAX_USDC_PER_DAY }).maxPerDay;
}

/** Lists the addresses that are set. One address twice is one node. */
function listUrls(...urls: readonly (string | undefined)[]): string[] {
  return [...new Set(urls)].filter((url) => url !== undefined);
}

function getKeySource(key: string | undefined, file: string | undefined): KeySource | null {
  if (key !== undefined) return { key };
  return file === undefined ? null : { file: resolve(file) };
}
