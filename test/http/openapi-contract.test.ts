import { Validator } from '@cfworker/json-schema';
import type { OpenAPIV3_1 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { getOwnPath } from '../../src/views/links.ts';
import { makeCatalogue, makeDeclaration, makeTerms, recordVerified } from '../builders.ts';
import { declareListings } from '../written.ts';
import { isLivePath } from './live-paths.ts';
import { SITE, serveLive } from './serving.ts';

const { paths = {}, components = {} } = buildFrame(SITE);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation: OpenAPIV3_1.OperationObject | undefined = item?.[method];
    return operation ? [{ path, method, operation }] : [];
  }),
);

/** Gives what a shared response stands for. */
function followRef<Thing extends object>(thing: Thing | OpenAPIV3_1.ReferenceObject): Thing {
  if (!('$ref' in thing)) return thing as Thing;
  return components.responses?.[thing.$ref.replace('#/components/responses/', '')] as Thing;
}

/** Lists what shows a body: one example, or several by name. */
function listExamples({ example, examples = {} }: OpenAPIV3_1.MediaTypeObject): unknown[] {
  const named = Object.values(examples).map((one) => ('value' in one ? one.value : undefined));
  return [example, ...named].filter((one) => one !== undefined);
}

/** What an endpoint has to be asked with, where it does not answer to its bare address. */
const QUESTIONS: Readonly<Record<string, string>> = {
  '/discovery/search': '?query=price',
  '/discovery/merchant': `?payTo=${makeTerms().pay_to}`,
  '/agent/check': `?${new URLSearchParams({
    url: 'https://api.prices.example-provider.com/v1/price/x',
    method: 'GET',
    network: 'base',
    asset: NETWORKS.base.usdc,
    pay_to: makeTerms().pay_to ?? '',
    amount: '1000',
  })}`,
};

/** Fills in what there is in the catalogue of these tests. */
function fillIn(path: string): string {
  return path
    .replace('{slug}', 'example-prices')
    .replace('{category}', 'finance')
    .replace('{domain}', 'example-provider.com')
    .replace('{part}', '1');
}

/** Files whose names the router does not take apart. */
const FILES: Readonly<Record<string, string>> = {
  '/badge/:file': '/badge/{slug}.svg',
  '/api/:file': '/api/{slug}.atom',
  '/category/:file': '/category/{category}.atom',
  '/provider/:file': '/provider/{domain}.atom',
};

/** Writes a mounted path as the document does: `/agent/listings/:slug` → `/agent/listings/{slug}`. */
function formatPath(mounted: string): string {
  if (mounted in FILES) return FILES[mounted] ?? '';
  return mounted === '/*' ? '/sitemap-{part}.xml' : mounted.replace(/:(\w+)/g, '{$1}');
}

describe('the documented endpoints', () => {
  it('are those that are mounted, and those that are mounted are documented', async () => {
    const { reading } = await serveLive(await makeCatalogue());
    const mounted = createApp({ reading }).routes.filter(({ method }) => method !== 'ALL');
    const documented = operations.filter(({ path }) => isLivePath(path.replace('{part}', '1')));
    const named = mounted.filter(({ path }) => getOwnPath(path) === path);
    expect([...new Set(named.map(({ method, path }) => `${method} ${formatPath(path)}`))].sort()).toEqual(
      documented.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    );
  });

  it('take the parameters that are documented, and no other', async () => {
    const { get } = await serveLive(await makeCatalogue());
    for (const { path, method, operation } of operations) {
      if (method !== 'get' || !isLivePath(path.replace('{part}', '1'))) continue;
      const documented = (operation.parameters ?? []).flatMap((parameter) =>
        'name' in parameter && parameter.in === 'query' ? [parameter.name] : [],
      );
      const refused = await get(`${fillIn(path)}?no_such_parameter=1`);
      expect([path, refused.status]).toEqual([path, 400]);
      const { valid_parameters: valid } = (await refused.json()) as { valid_parameters: string[] };
      expect([path, valid.toSorted()]).toEqual([path, documented.toSorted()]);
    }
  });

  it('have an id of their own, a description, an example of each success and say how they fail', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(operations.length);
    for (const { path, operation } of operations) {
      const responses = Object.entries(operation.responses ?? {});
      expect(operation.description, path).toBeTruthy();
      expect(
        responses.map(([status]) => status),
        path,
      ).toContain('429');
      for (const parameter of operation.parameters ?? []) expect(parameter, path).toHaveProperty('example');
      for (const [status, response] of responses) {
        for (const media of Object.values(followRef<OpenAPIV3_1.ResponseObject>(response).content ?? {})) {
          if (status === '200') expect(listExamples(media), `${path} ${status}`).not.toEqual([]);
        }
      }
    }
    expect(components.responses?.TooManyRequests).toHaveProperty('headers.Retry-After');
  });

  it('fail as documented', async () => {
    const catalogue = await makeCatalogue();
    await declareListings(catalogue, [makeDeclaration()]);
    const { get, fetch } = await serveLive(catalogue);
    for (const { path, method, operation } of operations) {
      if (!isLivePath(path.replace('{part}', '1')) || method !== 'get') continue;
      const address = path.replace('{identifier}', 'urn:air:none.example:listing:none').replace(/\{\w+\}/g, '99999');
      const statuses = Object.keys(operation.responses ?? {});
      const unknown = await get(`${fillIn(path)}?no-such-parameter=1`);
      if (!path.includes('{part}')) expect([path, unknown.status]).toEqual([path, 400]);
      expect(statuses).toContain('400');
      if (path.includes('{')) {
        expect([path, (await get(address)).status]).toEqual([path, 404]);
        expect(statuses).toContain('404');
      }
      expect([path, (await fetch(address, { method: 'DELETE' })).status]).toEqual([path, 405]);
      expect(statuses).toContain('405');
    }
  });

  it('have examples that are what their schemas say', () => {
    const schemas = components.schemas ?? {};
    let checked = 0;
    const check = (where: string, schema: object | undefined, example: unknown) => {
      if (example === undefined) return;
      const validator = new Validator({ ...schema, components: { schemas } }, '2020-12', false);
      expect(validator.validate(example).errors, where).toEqual([]);
      checked += 1;
    };
    for (const { path, method, operation } of operations) {
      for (const parameter of operation.parameters ?? []) {
        if ('name' in parameter) check(`${path} ${parameter.name}`, parameter.schema, parameter.example);
      }
      const body = operation.requestBody && 'content' in operation.requestBody ? operation.requestBody.content : {};
      for (const media of Object.values(body)) {
        for (const example of listExamples(media)) check(`${method} ${path} body`, media.schema, example);
      }
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        const { content = {}, headers = {} } = followRef<OpenAPIV3_1.ResponseObject>(response);
        for (const media of Object.values(content)) {
          for (const example of listExamples(media)) check(`${method} ${path} ${status}`, media.schema, example);
        }
        for (const [name, header] of Object.entries(headers)) {
          if ('schema' in header) check(`${path} ${status} ${name}`, header.schema, header.example);
        }
      }
    }
    expect(checked).toBeGreaterThan(60);
  });

  it('answer what their schemas say', async () => {
    const catalogue = await makeCatalogue();
    await declareListings(catalogue, [makeDeclaration()]);
    await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
    const { get } = await serveLive(catalogue);
    const schemas = components.schemas ?? {};
    for (const { path, method, operation } of operations) {
      const success = operation.responses?.['200'];
      if (method !== 'get' || !success || !isLivePath(path) || /\{(?:id|part|identifier)\}/.test(path)) continue;
      const response = await get(`${fillIn(path)}${QUESTIONS[path] ?? ''}`);
      expect([path, response.status]).toEqual([path, 200]);
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      const media = followRef<OpenAPIV3_1.ResponseObject>(success).content?.[type];
      expect(media, `${path} as ${type}`).toBeDefined();
      if (!/json$/.test(type)) continue;
      const validator = new Validator({ ...media?.schema, components: { schemas } }, '2020-12', false);
      expect(validator.validate(await response.json()).errors, path).toEqual([]);
    }
  });
});
