import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from '../fetching/outside.ts';

/** What a host answers at one path: a body, or the status, type and address to send on to. */
export interface Served {
  status?: number;
  type?: string;
  location?: string;
  body?: unknown;
}

/** Serves documents on loopback. `pages` may be changed while it serves; every path asked for is kept. */
export async function serveDocuments(
  pages: Record<string, Served>,
): Promise<{ origin: string; pages: Record<string, Served>; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const page = pages[request.url ?? ''];
    const { status = page ? 200 : 404, type = 'application/json', location, body = '' } = page ?? {};
    response.writeHead(status, { 'content-type': type, ...(location !== undefined && { location }) });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { origin: `http://127.0.0.1:${port}`, pages, asked };
}
