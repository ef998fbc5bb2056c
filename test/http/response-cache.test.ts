import { setImmediate as nextTurn } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { Document } from '../../src/http/document.ts';
import type { Env } from '../../src/http/request.ts';
import { createResponseCache } from '../../src/http/response-cache.ts';

/** Serves one document, which says the version at which it was begun. The first is not done before the test says so. */
function serveDocument() {
  const catalogue = { version: 0 };
  const made = { begun: 0, underWay: 0, mostAtOnce: 0 };
  const first = Promise.withResolvers<void>();
  const answer = createResponseCache(() => String(catalogue.version));
  const make = async (): Promise<Document> => {
    const body = Buffer.from(String(catalogue.version));
    made.begun += 1;
    made.underWay += 1;
    made.mostAtOnce = Math.max(made.mostAtOnce, made.underWay);
    await (made.begun === 1 ? first.promise : nextTurn()).finally(() => {
      made.underWay -= 1;
    });
    return { body, type: 'text/plain', etag: 'x', cacheControl: 'no-cache' };
  };
  const app = new Hono<Env>();
  app.get('/', (c) => answer(c, 'document', make));
  app.onError((_error, c) => c.text('failed', 500));
  return { catalogue, made, first, get: async () => (await app.request('/')).text() };
}

it('makes one version at a time: who asks meanwhile gets one that was begun after he asked', async () => {
  const { catalogue, made, first, get } = serveDocument();
  const asked = [get()];
  for (catalogue.version = 1; catalogue.version < 4; catalogue.version += 1) asked.push(get(), get());
  first.resolve();
  expect(await Promise.all(asked)).toEqual(['0', ...Array(6).fill('4')]);
  expect(await get()).toBe('4');
  expect(made).toEqual({ begun: 2, underWay: 0, mostAtOnce: 1 });
});

it('makes a document once more for those who waited for one that failed', async () => {
  const { catalogue, made, first, get } = serveDocument();
  const asked = [get(), get()];
  catalogue.version = 1;
  asked.push(get());
  first.reject(new Error('made to fail'));
  expect(await Promise.all(asked)).toEqual(['failed', '1', '1']);
  expect(made).toEqual({ begun: 2, underWay: 0, mostAtOnce: 1 });
});
