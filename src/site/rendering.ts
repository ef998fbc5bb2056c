import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pLimit from 'p-limit';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import type { Reading } from '../published/reading.ts';
import { compressPage, type Form } from './forms.ts';
import { findPageCode, type PageCode } from './page-code.ts';
import type { RecordedPage } from './record.ts';

/** A rendered page. */
export interface RenderedPage {
  readonly status: number;
  /** Media type with charset. */
  readonly type: string;
  readonly body: Buffer;
}

/** Renders the page at a path from a reading and the other inputs given. Returns undefined if there is no page at this path. */
export type RenderPage = (
  path: string,
  reading: Pick<Reading, 'site'>,
  more?: Partial<App.Locals>,
) => Promise<RenderedPage | undefined>;

type Handler = (request: PageRequest, response: PageResponse, next: () => void, locals: object) => Promise<void>;

/**
 * Loads compiled pages into this process, once per code version (the module system keeps them). They are rendered without a
 * socket: the node adapter's handler gets a request and a response that are plain objects in memory.
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

/** The compiled pages of one code version, for a process that may start before they exist. */
interface PageRenderer {
  /** Finds the pages; undefined until they exist. */
  findCode(): PageCode | undefined;
  /** Loads the pages at the first call, and again after a failure; undefined until they exist. */
  load(): Promise<RenderPage> | undefined;
}

/** Opens the compiled pages of a code version. */
export function openPageRenderer(codeVersion: string): PageRenderer {
  let code: PageCode | undefined;
  let loading: Promise<RenderPage> | undefined;

  const findCode = (): PageCode | undefined => {
    code ??= findPageCode(codeVersion);
    return code;
  };

  const load = (): Promise<RenderPage> | undefined => {
    const found = loading ? undefined : findCode();
    if (!found) return loading;
    loading = loadPageCode(found);
    loading.catch(() => {
      [code, loading] = [undefined, undefined];
    });
    return loading;
  };

  return { findCode, load };
}

function isEntry(module: unknown): module is { handler: Handler } {
  return typeof module === 'object' && module !== null && 'handler' in module && typeof module.handler === 'function';
}

/** The part of Node's request that the adapter reads. It has no visitor's headers, since pages depend on the path alone. */
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

/** The part of Node's response that the adapter writes. */
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

  /** Called when a page fails halfway; the bytes written so far are no page. */
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
 * Number of pages rendered at once. Each step is done for all of them before the next, so its code and data stay in the
 * processor's caches. One by one takes nearly twice as long; with many more, their own data does not fit into the caches.
 */
const LANES = 8;

/** A page to write, and its number until it is in place. */
export interface StalePage extends Omit<RecordedPage, 'etag'> {
  readonly number: number;
}

/** A page that is written, and not yet in place. */
export interface WrittenPage extends RecordedPage {
  readonly number: number;
  /** Its compressed forms. */
  readonly forms: readonly Form[];
}

/** Returns the file that a page, or a form of it, is written to before it is put in place. */
export function getUnfinishedFile(folder: string, number: number, form?: Form): string {
  return join(folder, form ? `${number}.${form}` : String(number));
}

/**
 * Renders pages, and writes each with its compressed forms to numbered files in `folder`. If a page fails, throws `internal` with
 * its path once all other writes have ended.
 */
export async function writePages(
  pages: readonly StalePage[],
  { render, reading, folder }: { render: RenderPage; reading: Reading; folder: string },
): Promise<WrittenPage[]> {
  const inLane = pLimit(LANES);
  const write = async ({ path, file, key, number }: StalePage): Promise<WrittenPage> => {
    const body = requireBody(path, await render(path, reading));
    const forms = compressPage(body);
    writeFileSync(getUnfinishedFile(folder, number), body);
    for (const [form, compressed] of forms) writeFileSync(getUnfinishedFile(folder, number, form), compressed);
    return { path, file, key, number, etag: getHash(body), forms: forms.map(([form]) => form) };
  };
  const written = await Promise.allSettled(pages.map((page) => inLane(() => write(page))));
  return written.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Returns the body of a page. The page for missing addresses has status 404, every other page 200; throws otherwise. */
function requireBody(path: string, rendered: RenderedPage | undefined): Buffer {
  const expected = path === '/404' ? 404 : 200;
  if (rendered && rendered.status === expected && rendered.body.length > 0) return rendered.body;
  throw new ServiceError('internal', `The page ${path} could not be rendered (status ${rendered?.status ?? 'none'}).`, {
    hint: 'The pages that are there keep being served; the error output says what this one threw.',
    reason: 'page_failed',
    details: { path },
  });
}
