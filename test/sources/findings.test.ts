import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../src/model/declaration.ts';
import { type FINDING_SECTIONS, findCodeWords } from '../../src/model/finding.ts';
import { buildFeedDeclarations } from '../../src/sources/bazaar/feed.ts';
import { listChallengeFindings } from '../../src/sources/challenge-findings.ts';
import { FINDING_CODES, type FindingCode } from '../../src/sources/findings.ts';
import { parseManifest, readManifests } from '../../src/sources/manifest.ts';
import {
  encodeHeader,
  makeOffer as makeAsked,
  makeChallenge,
  makeChallengeV1,
  makeOfferV1,
  read,
} from '../x402/challenges.ts';
import { makeItem, makeOffer, OPTIONS } from './bazaar/items.ts';
import { listAll } from './list-all.ts';
import { listFindings } from './openapi/documents.ts';
import { DOCUMENT_INPUTS } from './openapi/finding-inputs.ts';
import { STATEMENT_INPUTS } from './provider-file/finding-inputs.ts';

const MANIFEST_OPTIONS = { allowPrivateNetworks: false, now: OPTIONS.pulledAt };
const HEAD = 'name: Tides\nbase_url: https://api.tides.example\ntagline: Heights.\n';

function ofItem(overrides: Record<string, unknown>): Finding[] {
  return buildFeedDeclarations([makeItem(overrides)], OPTIONS).findings;
}

function ofOffer(overrides: Record<string, unknown>): Finding[] {
  return ofItem({ accepts: [makeOffer(overrides)] });
}

function ofAddress(resource: string): Finding[] {
  return ofItem({ resource });
}

function ofInput(input: Record<string, unknown>): Finding[] {
  return ofItem({ extensions: { bazaar: { info: { input: { method: 'POST', ...input } } } } });
}

function ofManifest(text: string): Finding[] {
  return parseManifest(text, 'tides.yaml', MANIFEST_OPTIONS).findings;
}

async function ofFolder(files: Record<string, string | Buffer | null>): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'codes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    if (text === null) mkdirSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  return (await listAll(readManifests([folder], MANIFEST_OPTIONS))).flatMap(({ findings }) => findings);
}

function ofChallenge(parts: Parameters<typeof read>[0]): Finding[] {
  return listChallengeFindings(read(parts), 'GET https://seller.example/v1/quote');
}

/** One 402 for each code that reading one can report, besides those of offers. */
const CHALLENGE_INPUTS = {
  no_challenge: () => ofChallenge({}),
  header_too_large: () => ofChallenge({ rawHeader: 'a'.repeat(16_388) }),
  body_too_large: () => ofChallenge({ body: ' '.repeat(300_000) }),
  bad_base64: () => ofChallenge({ rawHeader: '*' }),
  not_utf8: () => ofChallenge({ rawHeader: '/////w==' }),
  html_page: () => ofChallenge({ body: '<p>Pay' }),
  not_json: () => ofChallenge({ body: 'pay' }),
  too_deep: () => ofChallenge({ body: `{"a":${'['.repeat(80)}${']'.repeat(80)}}` }),
  not_an_object: () => ofChallenge({ body: '[]' }),
  no_version: () => ofChallenge({ body: '{}' }),
  bad_version: () => ofChallenge({ body: '{"x402Version":3}' }),
  no_accepts: () => ofChallenge({ body: '{"x402Version":1}' }),
  bad_timeout: () => ofChallenge({ header: makeChallenge({ accepts: [makeAsked({ maxTimeoutSeconds: 0.5 })] }) }),
  not_conforming: () => ofChallenge({ header: makeChallenge({ resource: 'https://seller.example' }) }),
  header_missing: () => ofChallenge({ body: makeChallenge() }),
  version_1_in_header: () => ofChallenge({ header: makeChallengeV1() }),
  header_unreadable: () => ofChallenge({ rawHeader: '*', body: makeChallengeV1() }),
  body_differs: () => {
    const accepts = [makeOfferV1({ maxAmountRequired: '7' })];
    return ofChallenge({ rawHeader: encodeHeader(makeChallenge()), body: makeChallengeV1({ accepts }) });
  },
  other_payment_scheme: () => ofChallenge({ authenticate: 'L402 macaroon="x"' }),
};

/** A code of reading a source or a 402. Those of an import are tested where it is. */
type ReadingCode = Exclude<FindingCode, keyof typeof FINDING_SECTIONS.imports.codes>;

/** One input for each code. A code without an input does not compile, and one that its input does not cause fails. */
const INPUTS: Record<ReadingCode, () => Finding[] | Promise<Finding[]>> = {
  bad_url: () => ofAddress('tides'),
  not_https: () => ofAddress('http://api.tides.example:8080'),
  http_as_https: () => ofAddress('http://api.tides.example'),
  userinfo: () => ofAddress('https://a:b@api.tides.example'),
  blocked_address: () => ofAddress('https://192.168.0.1'),
  blocked_host: () => ofAddress('https://metadata.google.internal'),
  blocked_port: () => ofAddress('https://api.tides.example:22'),
  ephemeral_host: () => ofAddress('https://tides.ngrok.app'),
  preview_host: () => ofAddress('https://tides-git-main-anna.vercel.app'),
  wildcard_path: () => ofAddress('https://api.tides.example/v1/*'),
  not_an_item: () => buildFeedDeclarations([7], OPTIONS).findings,
  not_http_type: () => ofItem({ type: 'mcp' }),
  no_resource: () => ofItem({ resource: undefined }),
  bad_method: () => ofItem({ method: 'BREW' }),
  no_offers: () => ofItem({ accepts: [] }),
  method_assumed: () => ofItem({ extensions: undefined }),
  method_differs: () => ofItem({ method: 'POST' }),
  resource_differs: () => ofOffer({ resource: 'https://other.example' }),
  too_many_offers: () => ofItem({ accepts: Array.from({ length: 33 }, () => makeOffer()) }),
  bad_date: () => ofItem({ lastUpdated: 'soon' }),
  bad_mime_type: () => ofItem({ mimeType: 'json' }),
  body_ignored: () => ofInput({ method: 'GET', body: { a: 1 } }),
  duplicate: () => buildFeedDeclarations([makeItem(), makeItem()], OPTIONS).findings,
  duplicate_key: () => listFindings('{"resources": ["https://a.example/x"], "version": 1, "version": 1}'),
  bad_offer: () => ofItem({ accepts: [null] }),
  bad_scheme: () => ofOffer({ scheme: '?' }),
  no_network: () => ofOffer({ network: undefined }),
  test_network: () => ofOffer({ network: 'base-sepolia', asset: 'x' }),
  test_network_mainnet_asset: () => ofOffer({ network: 'base-sepolia' }),
  unsupported_network: () => ofOffer({ network: 'near' }),
  no_asset: () => ofOffer({ asset: '' }),
  asset_not_an_address: () => ofOffer({ asset: 'USDC' }),
  not_usdc: () => ofOffer({ asset: `0x${'5'.repeat(40)}` }),
  no_amount: () => ofOffer({ amount: '' }),
  bad_amount: () => ofOffer({ amount: '$1' }),
  zero_amount: () => ofOffer({ amount: '0' }),
  implausible_price: () => ofOffer({ amount: '100000000000' }),
  bad_pay_to: () => ofOffer({ payTo: 'urn:x:y' }),
  network_spelling: () => ofOffer({ network: 'base' }),
  odd_version: () => ofItem({ x402Version: 9 }),
  amount_as_number: () => ofOffer({ amount: 5 }),
  amount_differs: () => ofOffer({ maxAmountRequired: '7' }),
  pay_to_differs: () => ofOffer({ recipient: 'x' }),
  scheme_assumed: () => ofOffer({ scheme: '' }),
  other_scheme: () => ofOffer({ scheme: 'batch-settlement' }),
  odd_timeout: () => ofOffer({ maxTimeoutSeconds: 0 }),
  hidden_text: () => ofItem({ description: 'a\u202Eb' }),
  text_shortened: () => ofItem({ description: 'x'.repeat(501) }),
  schema_too_large: () => ofInput({ bodyFields: { a: { description: 'x'.repeat(20_000) } } }),
  example_too_large: () =>
    ofManifest(`${HEAD}routes: [{method: POST, path: /x, price_usdc: 1, example: {body: "${'x'.repeat(20_000)}"}}]`),
  header_removed: () => ofInput({ headers: { authorization: 'x' } }),
  header_left_out: () => ofInput({ headers: { 'x a': 'x' } }),
  manifest_too_large: () => ofManifest('#'.repeat(2 ** 20 + 1)),
  manifest_unreadable: () => ofFolder({ 'a.yaml': Buffer.from([0xff, 0xfe]) }),
  manifest_not_a_file: () => ofFolder({ 'a.yaml': null }),
  manifest_empty: () => ofManifest(''),
  manifest_many_documents: () => ofManifest('a: 1\n---\nb: 1'),
  manifest_yaml: () => ofManifest('a: "'),
  manifest_tab: () => ofManifest('a:\n\tb: 1'),
  manifest_duplicate_key: () => ofManifest('a: 1\na: 1'),
  manifest_alias: () => ofManifest('a: &b 1'),
  manifest_too_deep: () => ofManifest(`a: ${'['.repeat(60)}${']'.repeat(60)}`),
  manifest_unknown_field: () => ofManifest('a: 1'),
  manifest_missing_field: () => ofManifest('name: x'),
  manifest_bad_value: () => ofManifest('name: []'),
  manifest_duplicate_route: () => ofManifest(`${HEAD}routes: [{method: GET, path: /x}, {method: GET, path: /x}]`),
  manifest_two_prices: () => ofManifest(`${HEAD}price_usdc: 1\nroutes: [{method: GET, path: /x}]`),
  no_manifests: () => ofFolder({}),
  no_price: () => ofManifest(HEAD),
  ...DOCUMENT_INPUTS,
  ...CHALLENGE_INPUTS,
  ...STATEMENT_INPUTS,
};

it.each(Object.keys(INPUTS) as ReadingCode[])('%s can occur, and is explained in one sentence', async (code) => {
  const findings = await INPUTS[code]();
  expect(findings.map((finding) => finding.code)).toContain(code);
  expect(FINDING_CODES[code]).toMatch(/^[A-Z].{10,140}\.$/);
  expect(findCodeWords(code)?.fix).toMatch(/^[A-Z].{10,140}\.$/);
  for (const finding of findings) expect(finding.message).not.toMatch(/\n/);
});
