import type { IncomingMessage } from 'node:http';
import { PATHS } from '../views/links.ts';

/** Longest message that is looked at; a tool call takes a few hundred bytes. */
const MESSAGE_BYTES = 16 * 1024;

/**
 * Says whether a request carries a message to the MCP endpoint. What says to be long, or does not say how long it is, is for
 * the live app itself to deal with.
 */
export function hasMessage({ method, url, headers }: IncomingMessage): boolean {
  if (method !== 'POST' || url !== PATHS.mcp) return false;
  const length = Number(headers['content-length']);
  return length > 0 && length <= MESSAGE_BYTES;
}

/** Reads the message that a request carries, and leaves it where the live app finds it. */
export async function readMessage(request: IncomingMessage): Promise<Buffer | 'cut off'> {
  const message = await new Promise<Buffer | 'cut off'>((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('close', () => resolve('cut off'));
  });
  // The request listener takes a body from here that something before it has read.
  if (message !== 'cut off') Object.assign(request, { rawBody: message });
  return message;
}

/** Documents whose answer depends on the address and two headers alone. */
const DOCUMENT = /^\/(?:agent|discovery)\/|^\/openapi\.json$/;

/**
 * Names all that the answer to a request depends on besides the catalogue and the time. Undefined where that may be more
 * than can be told here.
 */
export function findQuestion(request: IncomingMessage, message: Buffer | undefined): string | undefined {
  const { method, url = '', headers, rawHeaders } = request;
  if (message) return `${rawHeaders.join('\n')}\n\n${message.toString('latin1')}`;
  if (method !== 'GET' || !DOCUMENT.test(url)) return undefined;
  return `${url}\n${headers['accept-encoding'] ?? ''}\n${headers['if-none-match'] ?? ''}`;
}
