import { EventEmitter } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import { listPages, type PageRef } from '../published/pages.ts';
import type { Reading } from '../published/reading.ts';
import { writeNew } from './folders.ts';
import { compressPage } from './forms.ts';
import type { PageCode } from './page-code.ts';
import { linkPage } from './release-pages.ts';
import { getPlace, type ReleaseFile, type ReleasePage } from './shards.ts';

/** The answer of a page. */
export interface RenderedPage {
  readonly status: number;
  /** Media type with charset. */
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Renders the page at a path from a reading, and from what else it is given. Returns undefined if no page has this path.
 */
export type RenderPage = (
  path: string,
  reading: Pick<Reading, 'site'>,
  more?: Partial<App.Locals>,
) => Promise<RenderedPage | undefined>;

type Handler = (request: PageRequest, response: PageResponse, next: () => void, locals: object) => Promise<void>;

/**
 * Loads compiled pages into this process, once per code version (the module system keeps them), to be rendered without a
 * socket: the node adapter's handler is given a request and an answer that are plain objects in memory.
 */
export async function loadPageCode(code: PageCode): Promise<RenderPage> {
  const module: unknown = await import(pathToFileURL(code.entry).href);
  if (!isEntry(module)) {
    throw new ServiceError('internal', `The compiled pages at ${code.entry} have no handler.`, {
      hint: 'npm run rebuild -- --force compiles them again.',
      reason: 'no_handler',
    });
  }
  return async (path, reading, more) => {
    const response = new PageResponse();
    let matched = true;
    await module.handler(new PageRequest(path), response, () => (matched = false), { reading, ...more });
    return matched ? response.getPage() : undefined;
  };
}

function isEntry(module: unknown): module is { handler: Handler } {
  return typeof module === 'object' && module !== null && 'handler' in module && typeof module.handler === 'function';
}

/** The part of node's request that the adapter reads, without a visitor's headers: pages depend on the path alone. */
class PageRequest extends EventEmitter {
  readonly method = 'GET';
  readonly headers = { host: 'localhost' };
  readonly socket = {};
  readonly url: string;

  constructor(path: string) {
    super();
    this.url = path;
  }
}

/** The part of node's answer that the adapter writes. */
class PageResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  readonly #chunks: Uint8Array[] = [];
  #type = '';

  writeHead(status: number, headers?: unknown): this {
    this.statusCode = status;
    this.headersSent = true;
    const type: unknown = typeof headers === 'object' && headers !== null && Reflect.get(headers, 'content-type');
    if (typeof type === 'string') this.#type = type;
    return this;
  }

  write(chunk: string | Uint8Array, onWritten?: () => void): boolean {
    this.#chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    onWritten?.();
    return true;
  }

  end(chunk?: string | Uint8Array): this {
    if (chunk !== undefined) this.write(chunk);
    return this;
  }

  /** Called when a page fails half-way: what was written so far is not a page. */
  destroy(): this {
    this.statusCode = 500;
    return this;
  }

  getPage(): RenderedPage {
    const [first] = this.#chunks;
    const isOne = first !== undefined && this.#chunks.length === 1;
    const body = isOne ? Buffer.from(first.buffer, first.byteOffset, first.length) : Buffer.concat(this.#chunks);
    return { status: this.statusCode, type: this.#type, body };
  }
}

/**
 * Number of pages under way at once: each step is taken for all of them before the next, so that its code and what it
 * reads stay in the processor's caches. One by one they take nearly twice as long; many more, and their own data does not
 * fit any more.
 */
const LANES = 8;

/** Time that rendering goes on before others get their turn, in milliseconds. */
const TURN_MS = 200;

/** A page of the release built upon, and where its file is. */
export interface EarlierPage {
  readonly page: ReleasePage;
  readonly path: string;
}

/** Pages to be rendered into a folder, and where their earlier versions are. Plain data: threads share one job. */
export interface RenderJob {
  readonly folder: string;
  /** Undefined for every page there is: each thread then lists them itself, which is faster than passing the list. */
  readonly pages: readonly PageRef[] | undefined;
  /** Pages of the release built upon by path, so that one that came out the same is linked, not written. */
  readonly earlier: ReadonlyMap<string, EarlierPage>;
  /** One 32-bit number: the next page to take. */
  readonly next: SharedArrayBuffer;
}

/** The pages that one thread rendered. */
export type RenderedPages = [path: string, page: ReleasePage][];

/** Builds the job of rendering what is left to do of a release, or every page there is. */
export function buildRenderJob(
  folder: string,
  left?: { pages: readonly PageRef[]; earlier: RenderJob['earlier'] },
): RenderJob {
  const pages = left?.pages.map(({ path, file, key }) => ({ path, file, key }));
  return { folder, pages, earlier: left?.earlier ?? new Map(), next: new SharedArrayBuffer(4) };
}

/** A number larger than that of all pages. */
const STOPPED = 2 ** 30;

/** Lets all threads finish the pages they are at, and take no more. */
export function stopRendering({ next }: RenderJob): void {
  Atomics.store(new Int32Array(next), 0, STOPPED);
}

/**
 * Renders pages of a job, one after the other from a shared count, until none is left, and writes each to a new file, which
 * is not durable yet. Now and then others get their turn, and `onTurn` gets how many of all pages were taken, by whatever
 * thread. Throws `internal` naming the page that failed.
 */
export async function renderPages(
  job: RenderJob,
  { render, reading, onTurn }: { render: RenderPage; reading: Reading; onTurn?: (done: number, total: number) => void },
): Promise<RenderedPages> {
  const next = new Int32Array(job.next);
  const pages = job.pages ?? [...listPages(reading.published, reading.getSnapshot())];
  const done: RenderedPages = [];
  const record = openRecording(job);
  let turned = performance.now();
  let turn: Promise<void> | undefined;
  const work = async () => {
    for (;;) {
      await turn;
      const page = pages[Atomics.add(next, 0, 1)];
      if (!page) return;
      done.push([page.path, record(page, await render(page.path, reading))]);
      if (performance.now() - turned < TURN_MS) continue;
      turned = performance.now();
      turn = nextTurn();
      onTurn?.(Math.min(Atomics.load(next, 0), pages.length), pages.length);
    }
  };
  // The other lanes only finish their page after a failure, so that nothing is still writing when this rejects.
  const lanes = await Promise.allSettled(
    Array.from({ length: LANES }, () =>
      work().catch((error) => {
        stopRendering(job);
        throw error;
      }),
    ),
  );
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  return done;
}

/** Opens the writing of pages to the folder of a job; folders in it are made as they are needed. */
function openRecording({ folder, earlier }: RenderJob) {
  const folders = new Set<string>();
  return (page: PageRef, rendered: RenderedPage | undefined): ReleasePage => {
    const { path, key } = page;
    const { type, body } = requirePage(path, rendered);
    const file = getPlace(path, page.file);
    const target = join(folder, file);
    if (!folders.has(dirname(target))) {
      mkdirSync(dirname(target), { recursive: true });
      folders.add(dirname(target));
    }
    const before = earlier.get(path);
    const kept = before?.page.hash === getHash(body) ? linkPage(before.path, target, before.page) : undefined;
    if (kept) return { ...kept, file, key, type };
    const forms = compressPage(body).map(([form, compressed]) => [form, writeFile(`${target}.${form}`, compressed)]);
    return { file, key, type, ...writeFile(target, body), forms: Object.fromEntries(forms) };
  };
}

function writeFile(file: string, content: Uint8Array): ReleaseFile {
  return { hash: getHash(content), bytes: content.length, written: writeNew(file, content) };
}

/** The page for what is not found answers 404 itself; every other page of a release answers 200. */
function requirePage(path: string, rendered: RenderedPage | undefined): RenderedPage {
  const expected = path === '/404' ? 404 : 200;
  if (rendered && rendered.status === expected && rendered.type !== '' && rendered.body.length > 0) return rendered;
  throw new ServiceError('internal', `The page ${path} could not be rendered (status ${rendered?.status ?? 'none'}).`, {
    hint: 'The last release keeps serving; the error output says what the page threw.',
    reason: 'page_failed',
    details: { path },
  });
}
