import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../errors.ts';
import type { Reading } from '../published/reading.ts';
import type { PageCode } from './page-code.ts';

/** What a page answered. */
export interface RenderedPage {
  readonly status: number;
  /** Media type with charset. */
  readonly type: string;
  readonly body: Buffer;
}

/** Renders the page at a path from a reading. Undefined where no page has this path. */
export type RenderPage = (path: string, reading: Reading) => Promise<RenderedPage | undefined>;

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
  return async (path, reading) => {
    const response = new PageResponse();
    let matched = true;
    await module.handler(new PageRequest(path), response, () => (matched = false), { reading });
    return matched ? response.getPage() : undefined;
  };
}

function isEntry(module: unknown): module is { handler: Handler } {
  return typeof module === 'object' && module !== null && 'handler' in module && typeof module.handler === 'function';
}

/** As much of node's request as the adapter reads. It never carries a visitor's headers: pages depend on the path alone. */
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

/** As much of node's answer as the adapter writes. */
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
