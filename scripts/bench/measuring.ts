import { Pool, request } from 'undici';
import { PATHS } from '../../src/views/links.ts';
import { readUsage, type Server } from './world.ts';

/** One request. */
export interface Asked {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The encodings that are measured: uncompressed, and compressed as nearly all clients ask for. */
export const ENCODINGS = ['identity', 'gzip'] as const;

/** Builds a GET request. */
export function buildGet(path: string, encoding: 'identity' | 'gzip' | 'br' = 'identity'): Asked {
  return { path, headers: { 'accept-encoding': encoding } };
}

/** Parameters of a list. */
export type Query = Readonly<Record<string, string | number>>;

/** Builds the path of a list. */
export function buildListPath(query: Query): string {
  return `${PATHS.agentList}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`;
}

/** Builds the request that calls a tool over MCP. */
export function buildToolCall(name: string, args: Query): Asked {
  return {
    path: PATHS.mcp,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  };
}

/** One answer as it was sent, compressed or not, and the milliseconds until its end. */
export interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly ms: number;
}

/** Makes one request and returns the answer. Throws for any status but 200. */
export async function ask({ url }: Pick<Server, 'url'>, { path, method = 'GET', ...asked }: Asked): Promise<Answer> {
  const started = performance.now();
  const answer = await request(`${url}${path}`, { method, headers: asked.headers, body: asked.body ?? null });
  const body = Buffer.from(await answer.body.arrayBuffer());
  const ms = performance.now() - started;
  if (answer.statusCode !== 200) throw new Error(`${url}${path} was answered ${answer.statusCode}: ${body}`);
  return { headers: answer.headers, body, ms };
}

const CONNECTIONS = 8;

/**
 * Time for which each server first answers requests that are not counted, in milliseconds for each round. Meanwhile V8 compiles
 * what runs often, as in a server that has run for a minute.
 */
const WARM_UP_MS = 500;

/** Two servers, and their requests. */
export interface Comparison {
  readonly ours: Server;
  readonly theirs: Server;
  readonly rounds: number;
  readonly requestsPerRound: number;
  /** Builds the next request; both servers get the same ones. */
  readonly build: () => Asked;
}

/**
 * Compares how many requests two servers answer in a second, over eight connections, and the processor time that they take for
 * one. They take turns, so that other work on the machine disturbs both. The ratio is the median of the rounds.
 */
export async function compareServers(comparison: Comparison): Promise<Omit<Row, 'listings' | 'what'>> {
  const { ours, theirs, rounds, requestsPerRound, build } = comparison;
  const buildRound = () => Array.from({ length: requestsPerRound }, build);
  for (const server of [theirs, ours]) {
    for (const until = performance.now() + rounds * WARM_UP_MS; performance.now() < until; )
      await load(server, buildRound());
  }
  const pairs: { ours: Round; theirs: Round }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const asked = buildRound();
    pairs.push({ theirs: await load(theirs, asked), ours: await load(ours, asked) });
  }
  const sumCpu = (whose: 'ours' | 'theirs') => pairs.reduce((sum, pair) => sum + pair[whose].cpuMs, 0);
  const ourMs = sumCpu('ours');
  return {
    unit: 'requests/s',
    ours: getMedian(pairs.map((pair) => pair.ours.perSecond)),
    theirs: getMedian(pairs.map((pair) => pair.theirs.perSecond)),
    ratio: getMedian(pairs.map((pair) => pair.ours.perSecond / pair.theirs.perSecond)),
    // Processor time is not known without `/proc`.
    ...(ourMs > 0 && { cpu_us: (1000 * ourMs) / (rounds * requestsPerRound), cpu_ratio: sumCpu('theirs') / ourMs }),
  };
}

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Makes each request once, and returns the rate and the processor time. Throws for any status but 200. */
async function load({ url, pid }: Server, asked: readonly Asked[]): Promise<Round> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const waiting = asked.values();
  const cpuBefore = readUsage(pid).cpuMs ?? 0;
  const started = performance.now();
  const askNext = async () => {
    for (const { path, method = 'GET', headers, body = null } of waiting) {
      const answer = await pool.request({ path, method, headers, body });
      await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (answer.statusCode !== 200) throw new Error(`${url}${path} was answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, askNext));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return { perSecond: asked.length / seconds, cpuMs: (readUsage(pid).cpuMs ?? 0) - cpuBefore };
}

/** One line of a result: our figure, and if something was compared, the other program's figure of the same run. */
export interface Row {
  readonly listings: number;
  readonly what: string;
  /** `requests/s`, `s`, `ms`, `MB` … */
  readonly unit: string;
  readonly ours: number;
  /** Name of the program it is compared with. */
  readonly beside?: string | undefined;
  readonly theirs?: number | undefined;
  /** Ours divided by theirs. */
  readonly ratio?: number | undefined;
  /** Our processor time for a request, in microseconds. */
  readonly cpu_us?: number | undefined;
  /** Their processor time for a request divided by ours. It depends less on other work on the machine than `ratio`. */
  readonly cpu_ratio?: number | undefined;
  /** The figure that a goal is set for, and its bound. */
  readonly goal?: Goal | undefined;
}

/** A goal, such as `cpu_ratio ≥ 2`. */
export type Goal = `${'ours' | 'ratio' | 'cpu_ratio'} ${keyof typeof COMPARED} ${number}`;

const COMPARED = {
  '<': (figure: number, bound: number) => figure < bound,
  '≤': (figure: number, bound: number) => figure <= bound,
  '≥': (figure: number, bound: number) => figure >= bound,
} as const;

/** Says whether a row has reached its goal. A figure that could not be measured has reached none. */
function isReached({ goal, ...row }: Row & { readonly goal: Goal }): boolean {
  const [name, comparison, bound] = goal.split(' ') as ['ours' | 'ratio' | 'cpu_ratio', keyof typeof COMPARED, string];
  return COMPARED[comparison](row[name] ?? Number.NaN, Number(bound));
}

/** Writes how many of the goals of a table are reached, and names the rows that miss theirs. */
function formatGoals(rows: readonly Row[]): string {
  const aimed = rows.filter((row): row is Row & { goal: Goal } => row.goal !== undefined);
  if (aimed.length === 0) return 'no goal is set.';
  const missed = aimed.filter((row) => !isReached(row));
  const names = missed.map(({ what, listings }) => `${what} (${listings.toLocaleString('en')})`);
  return `goals reached: ${aimed.length - missed.length} of ${aimed.length}.${names.length > 0 ? ` Missed: ${names.join('; ')}.` : ''}`;
}

/** Builds a row with rounded figures. If no ratio is given, it is that of the two figures. */
export function buildRow(row: Row): Row {
  const { ours, theirs, ratio = theirs ? ours / theirs : undefined, cpu_us, cpu_ratio, ...rest } = row;
  const round = (figure: number | undefined) => (figure === undefined ? undefined : roundFigure(figure));
  return {
    ...rest,
    ours: roundFigure(ours),
    theirs: round(theirs),
    ratio: round(ratio),
    cpu_us: round(cpu_us),
    cpu_ratio: round(cpu_ratio),
  };
}

const COLUMNS = [
  'listings',
  'what',
  'unit',
  'ours',
  'beside',
  'theirs',
  'ratio',
  'cpu_us',
  'cpu_ratio',
  'goal',
] as const;

/** Formats rows as a Markdown table without empty columns. */
export function formatTable(rows: readonly Row[]): string {
  const columns = COLUMNS.filter((column) => rows.some((row) => row[column] !== undefined));
  const lines = rows.map((row) => columns.map((column) => formatCell(row[column])));
  const widths = columns.map((column, at) => Math.max(column.length, ...lines.map((line) => line[at]?.length ?? 0)));
  const format = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [columns, widths.map((width) => '-'.repeat(width)), ...lines].map(format).join('\n');
}

/** Formats the rows of a benchmark for the manual: which of its goals are reached, and the table. */
export function formatSection(name: string, rows: readonly Row[]): string {
  return `\`${name}\`: ${formatGoals(rows)}\n\n${formatTable(rows)}`;
}

function formatCell(value: string | number | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en') : (value ?? '');
}

/** Rounds to three digits, or to a whole number from 100 on. */
function roundFigure(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Returns the median; of an even count, the upper of the two in the middle. */
export function getMedian(numbers: readonly number[]): number {
  return getPercentile(numbers, 0.5);
}

/** Returns the number at a share, from 0 to 1, of the sorted numbers. */
export function getPercentile(numbers: readonly number[], share: number): number {
  const at = Math.min(numbers.length - 1, Math.floor(share * numbers.length));
  return numbers.toSorted((a, b) => a - b)[at] ?? Number.NaN;
}
