import { describe, expect, it } from 'vitest';
import { classifyAnswer } from '../../src/probing/classify.ts';
import { addToolPayment, readToolAnswer } from '../../src/x402/tool-answer.ts';

const ASKED = {
  x402Version: 2,
  error: 'Payment required',
  resource: { url: 'mcp://tool/report' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '1000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x1111111111111111111111111111111111111111',
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
};
const text = (value: unknown) => [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }];
const wrapped = { 'x402/error': { code: 402, message: 'Payment required', data: ASKED } };

describe('the answer to a tool call', () => {
  it.each([
    ['structured content', { result: { isError: true, structuredContent: ASKED, content: text(ASKED) } }],
    ['wrapped structured content', { result: { isError: true, structuredContent: wrapped } }],
    ['text alone', { result: { isError: true, content: text(ASKED) } }],
    ['wrapped text', { result: { isError: true, content: text(wrapped) } }],
    ['an error with the code 402', { error: { code: 402, message: 'Payment required', data: ASKED } }],
  ])('asks for a payment in %s', (_, message) => {
    expect(readToolAnswer(message)).toEqual({ kind: 'challenge', challenge: ASKED });
  });

  it.each([
    ['a product in text', { result: { content: text('rain') } }, { kind: 'product', text: 'rain' }],
    ['a product that speaks of x402', { result: { content: text(ASKED) } }, { kind: 'product' }],
    ['structured', { result: { content: [], structuredContent: { a: 1 } } }, { kind: 'product', text: '{"a":1}' }],
    ['an error of the tool', { result: { isError: true, content: text('no city') } }, { kind: 'failed', code: null }],
    ['an error of the server', { error: { code: -32_602, message: 'no' } }, { kind: 'failed', code: -32_602 }],
    ['nothing', undefined, { kind: 'no_rpc' }],
    ['another message', { method: 'ping' }, { kind: 'no_rpc' }],
    ['a broken result', { result: { content: [null] } }, { kind: 'product', text: '' }],
    ['text that is no JSON', { result: { isError: true, content: text('{x402') } }, { kind: 'failed' }],
    ['an error without a word', { result: { isError: true } }, { kind: 'failed', text: '{"isError":true,"error":""}' }],
  ])('is read for %s', (_, message, answer) => {
    expect(readToolAnswer(message)).toMatchObject(answer);
  });

  it('keeps what the seller says of the settlement', () => {
    const receipt = { success: true, transaction: '0x1' };
    const message = { result: { content: text('rain'), _meta: { 'x402/payment-response': receipt } } };
    expect(readToolAnswer(message)).toMatchObject({ receipt });
  });

  it('is payable as a 402 is, without the header that MCP does not have', () => {
    const body = new TextEncoder().encode(JSON.stringify(ASKED));
    const context = { terms: [], invented: [], at: new Date() };
    const verdict = classifyAnswer({ status: 402, headers: new Headers(), body, isTool: true }, context);
    expect(verdict).toMatchObject({ outcome: 'payable', terms: [{ amount: 1000 }] });
    expect(verdict.detail).not.toHaveProperty('flaws');
  });
});

it('carries a payment beside the arguments', () => {
  const message = JSON.stringify({ id: 1, method: 'tools/call', params: { name: 'report', arguments: { a: 1 } } });
  expect(JSON.parse(addToolPayment(message, { x402Version: 2 }))).toEqual({
    ...{ id: 1, method: 'tools/call' },
    params: { name: 'report', arguments: { a: 1 }, _meta: { 'x402/payment': { x402Version: 2 } } },
  });
});
