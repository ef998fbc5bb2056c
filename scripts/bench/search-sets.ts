import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { type Declaration, declaration } from '../../src/model/declaration.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { openReading, type Reading } from '../../src/published/reading.ts';
import { cleanText } from '../../src/sources/provider-text.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';

/** A request with its right answers: hosts of listings, and routes (`host GET /path`). A `*` stands for any characters. */
export interface Request {
  readonly q: string;
  readonly hosts: readonly string[];
  /** Empty where nobody said which routes are right. */
  readonly routes: readonly string[];
}

/** Requests with known answers, and the catalogue that they are asked of. */
export interface DataSet {
  readonly name: string;
  readonly requests: readonly Request[];
  /** Requests that nothing answers, if the set has some. */
  readonly unanswerable: readonly string[];
  readonly reading: Reading;
  /** Removes the listings for which `isWithheld` holds, so that requests for them have no answer. */
  readonly withhold?: () => Promise<void>;
  /** Its requests are those of other sets together. */
  readonly isSum?: boolean;
  close(): Promise<void>;
}

/** An API as the tool sets describe it. */
interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly apis?: readonly {
    readonly name: string;
    readonly method: string;
    readonly description: string;
    readonly parameters: readonly { readonly name: string; readonly type: string; readonly description: string }[];
    readonly response?: unknown;
  }[];
}

const AT = '2026-11-01T00:00:00.000Z';
const IDENTITY = '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60';
const SITE = { baseUrl: 'https://apis.example', serviceTitle: '', contactName: '', contactUrl: 'https://apis.example' };
const ROOT = resolve(import.meta.dirname, '../..');

/** A listing of the sample in `test/data/finding`. */
interface Sampled extends Record<'slug' | 'title' | 'provider' | 'tagline' | 'description' | 'base_url', string> {
  readonly category: Declaration['category'];
  readonly routes: readonly (Record<'path' | 'description', string> & {
    readonly method: Declaration['routes'][number]['method'];
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
  })[];
}

/**
 * Opens one data set after the other, with its files in `home`: those in `folder`, if one is given, the sample that is written
 * for this, and our own requests. These are asked of the manifests, and of the feed that they were written for if it is beside
 * the folder.
 */
export async function* openSets(folder: string | undefined, home: string): AsyncGenerator<DataSet> {
  for (const name of folder === undefined ? [] : readdirSync(folder)) {
    if (existsSync(join(folder ?? '', name, 'requests.jsonl')))
      yield await openToolSet(join(folder ?? '', name), home, name);
  }
  yield await openSample(home);
  yield* openOwnSets(folder === undefined ? undefined : resolve(folder, '..'), home);
}

/** Says whether a listing is removed to make requests for it unanswerable: every third. */
export function isWithheld(host: string): boolean {
  return (createHash('sha256').update(host).digest()[0] as number) % 3 === 0;
}

/** Says whether a host or a route is what a label names. */
export function isNamed(label: string, key: string): boolean {
  const [start = '', end] = label.split('*');
  return end === undefined ? key === label : key.startsWith(start) && key.endsWith(end);
}

async function openToolSet(folder: string, home: string, name: string): Promise<DataSet> {
  const tools = readLines<Tool>(join(folder, 'tools.jsonl')).map(buildTool);
  const { file, catalogue } = await record(
    tools.map(({ declared }) => declared),
    join(home, `${name}.sqlite`),
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const requests = readLines<{ query: string; tools?: string[]; routes?: [string, string][] }>(
    join(folder, 'requests.jsonl'),
  ).map(({ query, tools: right, routes = [] }) => ({
    q: query,
    hosts: [...new Set(right ?? routes.map(([tool]) => tool))].flatMap((tool) => byName.get(tool)?.host ?? []),
    routes: routes.flatMap(([tool, route]) => byName.get(tool)?.routes.get(route) ?? []),
  }));
  const reading = await publish(file);
  return {
    ...{ name, requests, unanswerable: [], reading },
    withhold: async () => {
      const listed = reading.published
        .prepare<{ slug: string; base_url: string }>('SELECT slug, base_url FROM listings')
        .all();
      await writeCatalogue(catalogue, AT, async (writing) => {
        for (const { slug, base_url } of listed) {
          if (isWithheld(new URL(base_url).host)) {
            await delistListing(writing, slug, { by: 'operator', reason: 'withheld' });
          }
        }
      });
      await publishCatalogue(nameFiles(file), 'bench');
    },
    close: async () => {
      reading.published.close();
      await catalogue.close();
    },
  };
}

/** Opens the sample of listings, with requests of which a quarter has no answer. */
export async function openSample(home: string): Promise<DataSet> {
  const read = (name: string) => JSON.parse(readFileSync(join(ROOT, 'test/data/finding', name), 'utf8'));
  const sampled: Sampled[] = read('listings.json');
  const requests: { request: string; answers: string[]; routes: string[] }[] = read('requests.json');
  const { file, catalogue } = await record(sampled.map(buildSampled), join(home, 'sample.sqlite'));
  const hosts = new Map(sampled.map(({ slug, base_url }) => [slug, new URL(base_url).host]));
  const getKey = (label: string) => label.replace(/^\S+/, (slug) => hosts.get(slug) ?? slug);
  const reading = await publish(file);
  return {
    ...{ name: 'sample', reading },
    requests: requests
      .filter(({ answers }) => answers.length > 0)
      .map(({ request, answers, routes }) => ({ q: request, hosts: answers.map(getKey), routes: routes.map(getKey) })),
    unanswerable: requests.filter(({ answers }) => answers.length === 0).map(({ request }) => request),
    close: async () => {
      reading.published.close();
      await catalogue.close();
    },
  };
}

/** Writes a catalogue of declarations. */
async function record(declared: readonly Declaration[], file: string) {
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: AT });
  await writeCatalogue(catalogue, AT, async (writing) => {
    for (const one of declared) await recordDeclaration(writing, one);
  });
  return { file, catalogue };
}

function buildSampled({ slug, title, provider, routes, ...texts }: Sampled, index: number): Declaration {
  const base = buildSyntheticDeclaration(index);
  const buildFields = (names: readonly string[]) =>
    names.length === 0 ? null : buildOutput(Object.fromEntries(names.map((name) => [name, ''])));
  return declaration.parse({
    ...base,
    ...texts,
    source: { ...base.source, name: slug },
    ...{ slug: null, service_name: null, title, provider_name: provider },
    routes: routes.map(({ method, path, description, inputs, outputs }) => ({
      ...base.routes[0],
      ...{ method, path, description, input_schema: buildFields(inputs), output_schema: buildFields(outputs) },
    })),
  });
}

/** Names the published file beside a catalogue. */
function nameFiles(file: string) {
  return { catalogueAddress: file, publishedFile: `${file}.published`, baseUrl: SITE.baseUrl };
}

async function publish(file: string): Promise<Reading> {
  await publishCatalogue(nameFiles(file), 'bench');
  return openReading(nameFiles(file).publishedFile, SITE);
}

/** Imports our manifests, and what the corpus has, and yields our requests that something there answers. */
async function* openOwnSets(corpus: string | undefined, home: string): AsyncGenerator<DataSet> {
  const file = join(home, 'own.sqlite');
  Object.assign(process.env, { CATALOGUE: file, BASE_URL: SITE.baseUrl, SITE: join(home, 'site') });
  const quiet = { write: () => true } as never;
  const sources = [
    ['--bazaar', join(corpus ?? '', 'bazaar-2026-03/resources.json')],
    ['--openapi', join(corpus ?? '', 'provider-openapi/openapi.json')],
  ].filter(([, source = '']) => corpus !== undefined && existsSync(source));
  for (const args of [...sources, [join(ROOT, 'data/listings')]]) {
    const io = { stdout: quiet, stderr: quiet, now: () => new Date(AT), signal: new AbortController().signal };
    await runCommandLine(['import', ...args], io);
  }
  const reading = await publish(file);
  const hosts = reading.published
    .prepare<{ base_url: string }>("SELECT base_url FROM listings WHERE state = 'live'")
    .all()
    .map(({ base_url }) => new URL(base_url).host);
  const isAnswered = (request: Request) => request.hosts.some((label) => hosts.some((host) => isNamed(label, host)));
  const requests = readOwn<Record<string, string[]>[]>('requests.yaml')
    .flatMap((line) => Object.entries(line))
    .map(([q, right]) => ({ q: String(q), hosts: right, routes: [] }))
    .filter(isAnswered);
  const tasks = readOwn<Record<string, Record<string, string[]>>[]>('tasks.yaml')
    .flatMap((line) => Object.entries(line))
    .map(([q, right]) => ({
      q,
      hosts: Object.keys(right),
      routes: Object.entries(right).flatMap(([host, routes]) => routes.map((route) => `${host} ${route}`)),
    }))
    .filter(isAnswered);
  const { short, ...long } = readOwn<Record<'short' | 'near' | 'far', string[]>>('unanswered.yaml');
  const sentences = Object.values(long).flat();
  const own = { reading, close: async () => undefined };
  yield { ...own, name: 'our short requests', requests, unanswerable: short };
  yield { ...own, name: 'our tasks', requests: tasks, unanswerable: sentences };
  yield {
    ...{ reading, name: 'our requests of any length', isSum: true },
    requests: [...requests, ...tasks],
    unanswerable: [...short, ...sentences],
    close: async () => reading.published.close(),
  };
}

function readOwn<Content>(name: string): Content {
  return parse(readFileSync(join(ROOT, 'test/search', name), 'utf8'));
}

/** Builds the listing of a tool as a feed would. */
function buildTool(tool: Tool, index: number) {
  const base = buildSyntheticDeclaration(index);
  const [terms] = base.routes.map((route) => route.terms);
  const host = `t${index}.provider-of-tests.com`;
  const apis = tool.apis ?? [{ name: 'call', method: 'GET', description: '', parameters: [] }];
  const description = cleanText(tool.description ?? apis[0]?.description, 'description');
  const paths = apis.map(
    ({ name }, at) => `/${encodeURIComponent(name.toLowerCase().replace(/[^a-z0-9]+/gi, '-'))}-${at}`,
  );
  const declared: Declaration = declaration.parse({
    ...base,
    source: { ...base.source, name: `tool ${index}` },
    base_url: `https://${host}`,
    slug: null,
    service_name: null,
    title: cleanText(tool.name, 'title') || `tool ${index}`,
    tagline: cleanText(description, 'tagline'),
    description,
    provider_name: `t${index}`,
    category: null,
    routes: apis.map(({ name, method, description: text, parameters, response }, at) => ({
      ...base.routes[0],
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? method : 'GET',
      path: paths[at],
      description: cleanText(`${name}. ${text ?? ''}`, 'route_description'),
      input_schema: parameters.length > 0 ? buildInput(parameters) : null,
      output_schema: response === undefined ? null : buildOutput(response),
      terms,
    })),
  });
  const routes = new Map(
    apis.map(({ name }, at) => [name, `${host} ${declared.routes[at]?.method ?? 'GET'} ${paths[at]}`]),
  );
  return { name: tool.name, host, routes, declared };
}

function buildInput(parameters: NonNullable<Tool['apis']>[number]['parameters']) {
  const properties = parameters.map(({ name, type, description }) => [name, { type: type.toLowerCase(), description }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Builds the schema of what an answer is like. */
function buildOutput(shape: unknown): object {
  if (Array.isArray(shape)) return { type: 'array', items: buildOutput(shape[0]) };
  if (typeof shape !== 'object' || shape === null) return { type: 'string' };
  const properties = Object.entries(shape).map(([name, inner]) => [name, buildOutput(inner)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function readLines<Line>(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
