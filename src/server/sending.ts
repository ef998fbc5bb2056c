import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildProblemBody, type Problem } from '../views/problem.ts';
import { chooseEncoding, isNotModified } from './accepting.ts';
import { compressContent, isCompressible } from './content.ts';
import type { Page } from './page-files.ts';
import { getSharingHeaders } from './security-headers.ts';

/** Pages are asked for again each time, and answered with 304 while they are the same; a delisting shows at once. */
const REVALIDATED = 'public, max-age=0, must-revalidate';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** What differs between one sending and another. */
export interface SendOptions {
  /** Flat names and values that every answer carries. */
  readonly headers: readonly string[];
  /** The content of this address never changes. */
  readonly immutable?: boolean;
  /** Names of further request headers that the choice of this answer depended on. */
  readonly vary?: string;
}

/**
 * Sends a page: as 304 where the reader has it (the weak ETag is of its content), compressed where accepted, without its
 * body for HEAD. Compressing is done once for each content.
 */
export async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, content }: Page,
  { headers, immutable = false, vary }: SendOptions,
): Promise<void> {
  const etag = `W/"${content.hash}"`;
  const compressible = isCompressible(type, content.body.length);
  const shared = [
    ...headers,
    ...getSharingHeaders(type),
    ...['ETag', etag, 'Cache-Control', immutable ? IMMUTABLE : REVALIDATED],
    ...(vary || compressible ? ['Vary', [vary, compressible && 'Accept-Encoding'].filter(Boolean).join(', ')] : []),
  ];
  if (status === 200 && isNotModified(request.headers['if-none-match'], etag)) {
    response.writeHead(304, shared).end();
    return;
  }
  const encoding = compressible ? chooseEncoding(request.headers['accept-encoding']) : undefined;
  const body = encoding ? (content.forms.find(encoding) ?? (await compressContent(content, encoding))) : content.body;
  if (encoding) shared.push('Content-Encoding', encoding);
  response.writeHead(status, [...shared, 'Content-Type', type, 'Content-Length', String(body.length)]);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Sends a small JSON document that nobody keeps. */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type = 'application/json; charset=utf-8', value }: { status: number; type?: string; value: unknown },
  headers: readonly string[],
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, [
    ...headers,
    ...getSharingHeaders(type),
    ...['Cache-Control', 'no-store', 'Content-Type', type, 'Content-Length', String(body.length)],
  ]);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Sends a failure as `application/problem+json` (RFC 9457). */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  members: Pick<Problem, 'status' | 'code' | 'detail'> & Record<string, unknown>,
  headers: readonly string[],
): void {
  const { status } = members;
  sendJson(request, response, { status, type: 'application/problem+json', value: buildProblemBody(members) }, headers);
}
