import { onTestFinished } from 'vitest';
import { openServer } from '../../scripts/market/loopback.ts';

interface Question {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params: unknown[];
}

/**
 * What a node says in place of the truth: a result, a whole response, or the promise of one. Undefined where it says
 * the truth, and a throw where it is down.
 */
export type Lie = (method: string, params: unknown[], truth: unknown) => unknown;

/** A node that answers like another one, except for its lies, which can be changed while it runs. */
export interface LyingNode {
  readonly url: string;
  lie: Lie | undefined;
}

/** Opens a node in front of an honest one, closed after the test. */
export async function openLyingNode(honestUrl: string, lie?: Lie): Promise<LyingNode> {
  const server = await openServer(async (request) => {
    const question: Question | Question[] = await request.json();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(question) };
    const answer = await (await fetch(honestUrl, init)).json();
    const change = ({ method, params }: Question, given: { result: unknown }) => {
      const said = node.lie?.(method, params, given.result);
      return said === undefined ? given : { ...given, result: said };
    };
    try {
      if (!Array.isArray(question)) {
        const said = await node.lie?.(question.method, question.params, answer.result);
        return said instanceof Response
          ? said
          : Response.json(said === undefined ? answer : { ...answer, result: said });
      }
      return Response.json(question.map((one, index) => change(one, answer[index])));
    } catch {
      return new Response('no', { status: 503 });
    }
  });
  onTestFinished(server.close);
  const node: LyingNode = { url: server.url, lie };
  return node;
}

/** Claims to be the public chain. */
export const sayPublic =
  (genesis: string): Lie =>
  (method, params, truth) =>
    method === 'eth_getBlockByNumber' && params[0] === '0x0' && typeof truth === 'object'
      ? { ...truth, hash: genesis }
      : undefined;

/** Fails at every request. */
export const beDown: Lie = () => {
  throw new Error('down');
};
