import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { makeCatalogue, makeDeclaration, makeFolder, recordVerified } from '../builders.ts';
import { declareListings } from '../written.ts';
import { serveOnLoopback } from './loopback.ts';
import { ask } from './running.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A program against the generated types, as somebody would write it. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths, components } from './service.ts';

export async function readAll(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const list = await client.GET('/agent/list', { params: { query: { q: 'price', limit: 5, verified: true } } });
  if (!list.data) throw new Error(list.error.detail);
  const item: components['schemas']['AgentItem'] | undefined = list.data.listings[0];
  const slug: string = item?.slug ?? '';
  const listing = await client.GET('/agent/listings/{slug}', { params: { path: { slug } } });
  if (!listing.data) throw new Error(listing.error.detail);
  const [route] = listing.data.listing.routes;
  const amount: string | undefined = route?.terms[0]?.amount;
  const missing = await client.GET('/agent/listings/{slug}', { params: { path: { slug: 'no-such' } } });
  const code: string | undefined = missing.error?.code;
  const changes = await client.GET('/agent/changes', { params: { query: { since: 0 } } });
  const receipt = await client.GET('/agent/receipts/{id}', { params: { path: { id: route?.proof?.receipt_id ?? '' } } });
  const terms = route?.terms[0];
  const check = await client.GET('/agent/check', {
    params: {
      query: {
        url: 'https://api.prices.example-provider.com/v1/price/x',
        network: 'base',
        asset: terms?.asset ?? '',
        pay_to: terms?.pay_to ?? '',
        amount: '2000',
      },
    },
  });
  if (!check.data) throw new Error(check.error.detail);
  const resources = await client.GET('/discovery/resources', { params: { query: { network: 'eip155:8453' } } });
  const found = await client.GET('/discovery/search', { params: { query: { query: 'price' } } });
  return {
    total: list.data.total,
    slug,
    amount,
    code,
    changes: changes.data?.changes.map(({ kind }) => kind),
    paid: receipt.data?.receipt.amount_usdc ?? receipt.error?.code,
    payTo: resources.data?.items[0]?.accepts[0]?.payTo,
    verdict: check.data.verdict,
    partial: found.data?.partialResults,
  };
}
`;

/** Mistakes, each of which the types must not let pass. */
const MISTAKES = `
import createClient from 'openapi-fetch';
import type { paths } from './service.ts';
const client = createClient<paths>({ baseUrl: '' });
export const mistakes = [
  client.GET('/agent/list', { params: { query: { categroy: 'Finance' } } }),
  client.GET('/agent/list', { params: { query: { category: 'Finances' } } }),
  client.GET('/agent/lists'),
  client.GET('/discovery/merchant', { params: { query: {} } }),
  client.POST('/agent/list'),
];
`;

/** Compiles files under the strictest settings; gives what the compiler complains of, by file and line. */
function listComplaints(files: readonly string[]): string[] {
  const program = ts.createProgram({
    rootNames: [...files],
    options: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      paths: { 'openapi-fetch': [join(ROOT, 'node_modules/openapi-fetch')] },
    },
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${file?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 200)}`;
  });
}

describe('a client generated from the live document', () => {
  it('compiles, calls the service, and does not let mistakes pass', async () => {
    const catalogue = await makeCatalogue();
    await declareListings(catalogue, [makeDeclaration()]);
    await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
    const { url } = await serveOnLoopback(catalogue);
    // Over a connection of its own: one that is kept would be closed while the compiler lets nothing else run.
    const document: Parameters<typeof openapiTS>[0] = JSON.parse((await ask({ url }, '/openapi.json')).text);

    const folder = makeFolder();
    const [types, program, mistakes] = ['service.ts', 'program.ts', 'mistakes.ts'].map((name) => join(folder, name));
    if (!types || !program || !mistakes) throw new Error('three files have three names');
    writeFileSync(types, astToString(await openapiTS(document)));
    writeFileSync(program, PROGRAM);
    writeFileSync(mistakes, MISTAKES);
    const complaints = listComplaints([types, program, mistakes]);
    expect(complaints.filter((complaint) => !complaint.startsWith('mistakes.ts'))).toEqual([]);
    const lines = MISTAKES.split('\n').flatMap((line, index) => (line.startsWith('  client') ? [index + 1] : []));
    expect([...new Set(complaints.map((complaint) => Number(/:(\d+)/.exec(complaint)?.[1])))]).toEqual(lines);

    // The folder has no packages, so the program is told where its one is.
    const { outputText } = ts.transpileModule(PROGRAM, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const runnable = join(folder, 'program.mjs');
    const library = import.meta.resolve('openapi-fetch');
    writeFileSync(runnable, outputText.replace("'openapi-fetch'", JSON.stringify(library)));
    const { readAll }: { readAll: (baseUrl: string) => Promise<object> } = await import(pathToFileURL(runnable).href);
    expect(await readAll(url)).toEqual({
      total: 1,
      slug: 'example-prices',
      amount: '1000',
      code: 'not_found',
      changes: expect.arrayContaining(['listed', 'verified']),
      paid: 'not_found',
      payTo: '0x1111111111111111111111111111111111111111',
      verdict: 'mismatch',
      partial: false,
    });
  });
});
