import { describe, expect, it } from 'vitest';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { listingTag } from '../../src/views/listing/tag.ts';
import { buildReferencePage, type ReferenceSamples } from '../../src/views/pages/reference-page.ts';
import { SITE } from '../http/serving.ts';

const page = buildReferencePage(SITE, buildFrame(SITE), {});
const operations = page.groups.flatMap((group) => group.operations);

describe('the reference', () => {
  it('has every operation of the OpenAPI document once, with all its parameters and answers', () => {
    const documented = Object.entries(buildFrame(SITE).paths ?? {}).flatMap(([path, item]) =>
      (['get', 'post'] as const).flatMap((method) => {
        const operation = item?.[method];
        const parameters = (operation?.parameters ?? []).map((parameter) =>
          'name' in parameter ? parameter.name : '',
        );
        return operation ? [[operation.operationId, path, parameters, Object.keys(operation.responses ?? {})]] : [];
      }),
    );
    const shown = operations.map(({ id, path, fields, statuses }) => [
      ...[id, path, [...new Set(fields.map(({ name }) => name))], statuses],
    ]);
    const sort = (list: unknown[]) => list.map((entry) => JSON.stringify(entry)).sort();
    expect(sort(shown)).toEqual(sort(documented));
  });

  it('says once what most endpoints answer, and of each what it answers beyond', () => {
    const shared = page.shared_answers.map(({ status }) => status);
    expect(shared).toEqual(['304', '400', '405', '429', '503']);
    for (const { id, statuses, answers } of operations) {
      const own = answers.map(({ status }) => status);
      expect([id, statuses.filter((status) => !own.includes(status) && !shared.includes(status))]).toEqual([id, []]);
    }
    const getListing = operations.find(({ id }) => id === 'getListing');
    expect(getListing?.answers.map(({ status }) => status)).toEqual(['200', '404', '410']);
  });

  it('has an example where something is to be filled in, and none where a click shows a real answer', () => {
    for (const { id, kind, example } of operations) {
      if (kind !== 'call') expect([id, example]).toEqual([id, null]);
    }
    const example = operations.find(({ id }) => id === 'getListing')?.example ?? '';
    expect(example).toContain('"listing": {');
    expect(example).toMatch(/[,{[]\n…$/);
    expect(example.length).toBeLessThan(710);
  });

  it('says of each parameter what it takes, and starts forms with what can be sent', () => {
    const list = operations.find(({ id }) => id === 'listListings');
    const field = (name: string) => list?.fields.find((candidate) => candidate.name === name);
    expect(field('limit')).toMatchObject({ type: 'whole number, 1 to 1000', value: '20' });
    expect(field('category')?.choices).toContain('Finance');
    expect(field('category')?.value).toBe('');
    expect(list?.curl).toBe(`curl '${SITE.baseUrl}/agent/list?q=convert+a+pdf+to+text&limit=20'`);
    expect(list?.kind).toBe('form');
  });

  it('fills calls in with what the catalogue has, and leaves open what it has not', () => {
    const getCurls = (samples: ReferenceSamples) =>
      new Map(
        buildReferencePage(SITE, buildFrame(SITE), samples).groups.flatMap((group) =>
          group.operations.map(({ path, method, curl }) => [`${method} ${path}`, curl]),
        ),
      );
    const filled = getCurls({
      listing: { slug: 'a-b', identifier: 'urn:air:x:listing:a-b', domain: 'a.example' },
      receipt: 'r1',
      route: { method: 'POST', url: 'https://a.example/b' },
    });
    expect(filled.get('GET /agent/listings/{slug}')).toContain('/agent/listings/a-b');
    expect(filled.get('GET /agents/{identifier}')).toContain('/agents/urn%3Aair%3Ax%3Alisting%3Aa-b');
    expect(filled.get('GET /agent/receipts/{id}')).toContain('/agent/receipts/r1');
    expect(filled.get('GET /agent/check')).toContain('url=https%3A%2F%2Fa.example%2Fb&method=POST');
    expect(filled.get('POST /agent/check')).toContain('"url":"https://a.example/b","method":"POST"');
    expect(getCurls({}).get('GET /agent/receipts/{id}')).toContain('/agent/receipts/{id}');
  });

  it('makes no form of what a form cannot send, and a link of what needs none', () => {
    for (const { method, path, fields, kind } of operations) {
      const isCall = method === 'POST' || path.includes('{');
      expect([path, kind]).toEqual([path, isCall ? 'call' : fields.length === 0 ? 'document' : 'form']);
    }
    const silent = { ...SITE, contactUrl: SITE.baseUrl };
    const kinds = buildReferencePage(silent, buildFrame(silent), {}).groups.flatMap(({ operations }) =>
      operations.map(({ path, kind }) => [path, kind]),
    );
    expect(kinds).toContainEqual(['/.well-known/security.txt', 'form']);
  });

  it('explains every field of a tag', () => {
    expect(page.tag_fields.map(({ name }) => name)).toEqual(Object.keys(listingTag.shape));
  });
});
