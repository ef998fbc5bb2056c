import type { ServerResponse } from 'node:http';
import { encodeHeader, makeChallenge, makeChallengeV1 } from '../x402/challenges.ts';

/** Asks for payment in version 2: the challenge is in the header. */
export function sendChallenge(response: ServerResponse, challenge: unknown = makeChallenge()): void {
  response
    .writeHead(402, { 'payment-required': encodeHeader(challenge), 'content-type': 'application/json' })
    .end('{}');
}

/** Asks for payment in version 1: the challenge is the body. */
export function sendChallengeV1(response: ServerResponse, challenge: unknown = makeChallengeV1()): void {
  response.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify(challenge));
}

export function sendStatus(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end('{"error":"no"}');
}
