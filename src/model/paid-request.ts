import { createHash } from 'node:crypto';
import { z } from 'zod';
import { httpMethod } from './http-method.ts';

/** The request of a paid call, without what pays and what is secret. Hash: SHA-256, hex. */
export const paidRequest = z.object({
  method: httpMethod,
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  hash: z.string().describe('SHA-256 of method, address and body, each followed by a line feed, in hexadecimal'),
});
export type PaidRequest = z.infer<typeof paidRequest>;

/** Gives the hash of a request: SHA-256 of method, address and body, each followed by a line feed, in hexadecimal. */
export function getRequestHash({ method, url, body }: Pick<PaidRequest, 'method' | 'url' | 'body'>): string {
  return createHash('sha256')
    .update(`${method}\n${url}\n${body ?? ''}\n`)
    .digest('hex');
}
