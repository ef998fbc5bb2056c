import { parseDocument } from 'yaml';
import type { Finding } from '../model/declaration.ts';
import { DEFAULT_NETWORK, findNamedNetwork, isUsdc, NETWORKS, type Network } from '../model/network.ts';
import { parseUsdc, readTypedPrice } from '../model/usdc.ts';
import { PAYEE_NAMES } from '../x402/ambiguities.ts';
import { findAccount, findOfferNetwork, MAX_PLAUSIBLE_AMOUNT } from '../x402/offer-fields.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { readApiDocument } from './api-document.ts';
import { listChallengeFindings } from './challenge-findings.ts';
import type { ApiDocumentOptions } from './document-declarations.ts';
import { buildFinding } from './finding-codes.ts';
import { isObject } from './json-value.ts';
import { getTemplatePath } from './outside-address.ts';

/** One step of a correction, as JSON Patch has it (RFC 6902). */
export interface PatchStep {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

/** A JSON text with its faults corrected as far as that is possible without asking its author. */
export interface Correction {
  /** The steps for each finding, by `getFindingKey`. */
  steps: ReadonlyMap<string, readonly PatchStep[]>;
  value: unknown;
  /** True if reading it again finds nothing that keeps buyers away. */
  isWhole: boolean;
}

/** Largest text that is corrected, and that is read as YAML; most rounds, since reading an offer ends at its first fault. */
const MAX_BYTES = 256 * 1024;
const MAX_LOOSE_BYTES = 32 * 1024;
const MAX_ROUNDS = 8;
const MAX_STEPS = 64;

/** The place of a finding in the JSON, and what is known around it. */
interface Place {
  root: unknown;
  path: string;
  key: string;
  value: unknown;
  /** The object whose member it is: an offer, an entry with a price, or the payment information of an operation. */
  holder: Record<string, unknown>;
  holderPath: string;
  version: 1 | 2;
  /** Address that was asked. */
  url: string;
}

type Corrector = (place: Place) => PatchStep[];

/** Returns the key of a finding among those of one text. */
export function getFindingKey({ code, place = '' }: Pick<Finding, 'code' | 'place'>): string {
  return `${code} ${place}`;
}

/**
 * Corrects the challenge of a 402: that of the header, or of the body without one. Undefined if neither has anything in it
 * that can be read as JSON, however loosely.
 */
export function correctChallenge(
  { headers, body }: { headers: Headers; body: Uint8Array },
  url: string,
): Correction | undefined {
  const header = headers.get('payment-required') ?? '';
  const texts = [Buffer.from(header.trim(), 'base64').toString(), header, decode(body)];
  const value = texts.map(parseLoosely).find((one) => one !== undefined);
  return value && correct(value, (challenge) => listChallengeFindings(readChallenge(buildAnswer(challenge)), url), url);
}

/** Corrects an API document that is JSON. Undefined if it cannot be read as such, or is too large. */
export function correctDocument(bytes: Uint8Array, url: string, options: ApiDocumentOptions): Correction | undefined {
  const list = (document: unknown): Finding[] => {
    const read = readApiDocument(Buffer.from(JSON.stringify(document)), options);
    return 'code' in read ? [buildFinding('refused', read.code, url, read.message, read.place)] : read.findings;
  };
  const value = parseLoosely(decode(bytes));
  return value && correct(value, list, url);
}

/** Writes the header that carries a challenge of version 2; undefined for one that belongs in the body. */
export function encodeChallenge(challenge: unknown): string | undefined {
  const isOfHeader = getMember(challenge, 'x402Version') === 2;
  return isOfHeader ? Buffer.from(JSON.stringify(challenge)).toString('base64') : undefined;
}

function buildAnswer(challenge: unknown): { headers: Headers; body: Uint8Array } {
  const header = encodeChallenge(challenge);
  if (header === undefined) return { headers: new Headers(), body: Buffer.from(JSON.stringify(challenge)) };
  return { headers: new Headers({ 'payment-required': header }), body: new Uint8Array() };
}

function correct(value: object, list: (value: unknown) => Finding[], url: string): Correction {
  const root = { value: structuredClone<unknown>(value) };
  const steps = new Map<string, PatchStep[]>();
  let findings = list(root.value);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = steps.size;
    for (const finding of findings) {
      const key = getFindingKey(finding);
      const found = steps.has(key) || steps.size >= MAX_STEPS ? [] : findSteps(finding, root.value, url);
      if (found.length > 0) steps.set(key, found);
      for (const step of found) applyStep(root, step);
    }
    if (steps.size === before) break;
    findings = list(root.value);
  }
  const isWhole = findings.every(({ severity, code }) => severity === 'noted' && code !== 'no_payable_operation');
  return { steps, value: root.value, isWhole };
}

function findSteps({ code, place = '' }: Finding, root: unknown, url: string): PatchStep[] {
  // What is in the header is about the whole challenge in it.
  const path = place === 'header PAYMENT-REQUIRED' ? '' : place;
  const corrector = /^(?:\/|$)/.test(path) ? CORRECTORS[code] : undefined;
  return corrector?.(locate(root, path, url)) ?? [];
}

const splitPointer = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function locate(root: unknown, path: string, url: string): Place {
  const keys = splitPointer(path);
  const values: unknown[] = [root];
  for (const key of keys) values.push(getMember(values.at(-1), key));
  // The price of an entry may be an object of its own, within the payment information.
  const at = values.findLastIndex((one, depth) => isObject(one) && (keys[depth - 1] !== 'price' || depth === 0));
  const holder = values[at];
  const version = values.findLast((one) => getMember(one, 'x402Version') !== undefined);
  return {
    ...{ root, path, url, key: keys.at(-1) ?? '', value: values[keys.length] },
    holder: isObject(holder) ? holder : {},
    holderPath: path
      .split('/')
      .slice(0, at + 1)
      .join('/'),
    version: getMember(version, 'x402Version') === 1 ? 1 : 2,
  };
}

/** Applies a step. A place that does not exist is left alone, and no prototype is touched. */
export function applyStep(root: { value: unknown }, { op, path, value }: PatchStep): void {
  const keys = splitPointer(path);
  const key = keys.pop();
  const parent = keys.reduce<unknown>(getMember, root.value);
  if (key === undefined) root.value = value;
  else if (typeof parent !== 'object' || parent === null || key === '__proto__') return;
  else if (op === 'remove') Reflect.deleteProperty(parent, key);
  else Reflect.set(parent, key, value);
}

/** Writes the members that steps set, as they are to be written in the document, one a line. */
export function formatSteps(steps: readonly PatchStep[]): string {
  const set = steps.filter(({ op }) => op !== 'remove');
  const lines = set.map(({ path, value }) => {
    const key = splitPointer(path).at(-1) ?? '';
    return `${key === '' || /^\d+$/.test(key) ? '' : `${JSON.stringify(key)}: `}${JSON.stringify(value, null, 2)}`;
  });
  return lines.join(',\n');
}

const set = ({ path, value: before }: Pick<Place, 'path' | 'value'>, value: unknown): PatchStep[] =>
  value === undefined || value === before ? [] : [{ op: before === undefined ? 'add' : 'replace', path, value }];

const setIn = ({ holder, holderPath }: Place, key: string, value: unknown): PatchStep[] =>
  set({ path: `${holderPath}/${key}`, value: holder[key] }, value);

const removeIn = ({ holder, holderPath }: Place, key: string): PatchStep[] =>
  holder[key] === undefined ? [] : [{ op: 'remove', path: `${holderPath}/${key}` }];

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads an amount as its author meant it: atomic units where it is a whole number, else USDC. */
function readAmount(raw: unknown): string | undefined {
  const text = isText(raw) || typeof raw === 'number' ? String(raw).trim().slice(0, 80) : '';
  const digits = /^\d{1,3}(?:,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text.replace(/[\s_']/g, '');
  if (/^0*[1-9]\d*$/.test(digits)) return digits.replace(/^0+/, '');
  if (/^(?:\d+(?:\.\d+)?e\+?\d{1,2}|0x[0-9a-f]{1,13})$/i.test(digits)) return String(Math.trunc(Number(digits)));
  const usdc = parseUsdc(readTypedPrice(text));
  if (!usdc) return undefined;
  return String(usdc <= MAX_PLAUSIBLE_AMOUNT ? usdc : Math.trunc(Number(digits)));
}

const correctAmount: Corrector = (place) => set(place, readAmount(place.value));

/** Takes the amount from the member of the other version, or from a price. */
const findAmount: Corrector = (place) => {
  const names = ['amount', 'maxAmountRequired', 'price', 'value'].filter((name) => name !== place.key);
  const name = names.find((one) => readAmount(place.holder[one]) !== undefined);
  return name === undefined ? [] : [...set(place, readAmount(place.holder[name])), ...removeIn(place, name)];
};

/** Divides an amount that was counted with 18 decimals. */
const correctDecimals: Corrector = (place) => {
  const [, amount] = /^(\d{1,10})0{12}$/.exec(String(place.value)) ?? [];
  return amount && Number(amount) <= MAX_PLAUSIBLE_AMOUNT ? set(place, amount) : [];
};

/**
 * Names the network that an offer means: that of its USDC, else the one it names, else, if that is no main network, one of
 * its payee's account.
 */
const correctNetwork = (canBeOther: boolean): Corrector => {
  return (place) => {
    const { network, asset, payTo } = place.holder;
    const all: Network[] = Object.values(NETWORKS);
    const family = canBeOther ? findAccount(payTo)?.family : undefined;
    const meant =
      all.find(({ key }) => isText(asset) && isUsdc(key, asset)) ??
      findNamedNetwork(String(network)) ??
      all.find((one) => one.family === family);
    const isOther = meant && canBeOther && isText(asset) && !isUsdc(meant.key, asset);
    const name = place.version === 1 && getMember(place.root, 'x402Version') === 1 ? meant?.key : meant?.id;
    return [...setIn(place, 'network', name), ...(isOther ? setIn(place, 'asset', meant.usdc) : [])];
  };
};

/** Spells the networks of all offers as the version does. */
const spellNetworks: Corrector = ({ root, url }) =>
  [getMember(root, 'accepts')]
    .flat()
    .flatMap((_, at) => correctNetwork(false)(locate(root, `/accepts/${at}/network`, url)));

const correctAsset: Corrector = (place) => {
  const network = findOfferNetwork(place.holder.network, null);
  const isMeant = /^(?:|usdc?|usd coin|iso4217:usd)$/i.test(isText(place.value) ? place.value.trim() : '');
  return 'key' in network && isMeant ? set(place, NETWORKS[network.key].usdc) : [];
};

const findPayee: Corrector = (place) => {
  const isPayee = ([name, value]: [string, unknown]) =>
    PAYEE_NAMES.includes(name.toLowerCase().replace(/[^a-z]/g, '')) && findAccount(isText(value) && value.trim());
  const [name, payee] = Object.entries(place.holder).find(isPayee) ?? [];
  return name === undefined
    ? []
    : [...set(place, String(payee).trim()), ...(name === place.key ? [] : removeIn(place, name))];
};

/** Removes the member that says the same as that of the version in other words. */
const removeOther = (own: string, other: string): Corrector => {
  return (place) => removeIn(place, place.key === own ? other : place.key);
};

const correctVersion: Corrector = ({ root, path, value }) => {
  const [first] = [getMember(root, 'accepts')].flat();
  const guess = getMember(first, 'maxAmountRequired') === undefined ? 2 : 1;
  return set({ path, value }, ['1', '2'].includes(String(value)) ? Number(value) : guess);
};

const correctOffers: Corrector = (place) => {
  if (isObject(place.value)) return set(place, [place.value]);
  const name = ['paymentRequirements', 'requirements', 'offers'].find((one) => place.holder[one] !== undefined);
  return name === undefined ? [] : [...set(place, [place.holder[name]].flat()), ...removeIn(place, name)];
};

/** Puts the host that was asked in the place of one that nobody else can call. */
const correctAddress: Corrector = (place) => {
  const { origin } = new URL(place.url);
  if (isText(place.value)) {
    const written = URL.parse(place.value, origin);
    return written ? set(place, `${origin}${getTemplatePath(written)}`) : [];
  }
  const servers = getMember(place.root, 'servers');
  const first = String(getMember(Array.isArray(servers) ? servers[0] : undefined, 'url'));
  const path = /[{}]/.test(first) ? '' : (URL.parse(first)?.pathname ?? '');
  return set({ path: '/servers', value: servers }, [{ url: `${origin}${path.replace(/\/+$/, '')}` }]);
};

const correctTimeout: Corrector = (place) => {
  const seconds = Math.round(Number(place.value));
  return set(place, seconds >= 1 && seconds <= 86_400 ? seconds : 60);
};

/** Corrects a member that the schema of the x402 SDK refuses. */
const conform: Corrector = (place) => {
  const { path, value, url, key } = place;
  const corrector = /^\/accepts\/\d+\/\w+$/.test(path) ? OF_OFFERS[key] : undefined;
  if (corrector) return corrector(place);
  if (path === '/resource') return set(place, { url: isText(value) && value !== '' ? value : url });
  if (path === '/resource/url') return set(place, url);
  const [optional] =
    /^\/(?:resource\/\w+|error|extensions|accepts\/\d+\/(?:extra|mimeType|outputSchema))/.exec(path) ?? [];
  return optional === undefined ? [] : [{ op: 'remove', path: optional }];
};

/** The members of an offer that the schema may refuse. */
const OF_OFFERS: Readonly<Record<string, Corrector>> = {
  resource: (place) => set(place, place.url),
  description: (place) => set(place, ''),
  network: correctNetwork(false),
  amount: correctAmount,
  maxAmountRequired: correctAmount,
  scheme: (place) => set(place, 'exact'),
  maxTimeoutSeconds: correctTimeout,
};

/** The corrections that need no word of the author, by the code of the finding. */
const CORRECTORS: Readonly<Record<string, Corrector>> = {
  bad_amount: correctAmount,
  amount_as_number: (place) => set(place, String(place.value)),
  no_amount: findAmount,
  implausible_price: correctDecimals,
  no_network: correctNetwork(true),
  unsupported_network: correctNetwork(false),
  network_spelling: spellNetworks,
  network_assumed: (place) => setIn(place, 'network', NETWORKS[DEFAULT_NETWORK].id),
  test_network: correctNetwork(true),
  test_network_mainnet_asset: correctNetwork(false),
  no_asset: correctAsset,
  asset_not_an_address: correctAsset,
  bad_pay_to: findPayee,
  pay_to_differs: removeOther('payTo', 'recipient'),
  amount_differs: (place) =>
    (place.version === 1 ? removeOther('maxAmountRequired', 'amount') : removeOther('amount', 'maxAmountRequired'))(
      place,
    ),
  bad_scheme: (place) => set(place, 'exact'),
  scheme_assumed: (place) => set(place, 'exact'),
  bad_timeout: correctTimeout,
  odd_timeout: correctTimeout,
  no_version: correctVersion,
  bad_version: correctVersion,
  no_accepts: correctOffers,
  not_an_object: ({ root, path }) => (Array.isArray(root) ? [{ op: 'replace', path, value: { accepts: root } }] : []),
  not_conforming: conform,
  bad_url: correctAddress,
  not_https: correctAddress,
  http_as_https: correctAddress,
  blocked_address: correctAddress,
  blocked_host: correctAddress,
  blocked_port: correctAddress,
  userinfo: correctAddress,
  wildcard_path: (place) => (isText(place.value) ? correctAddress(place) : []),
  stand_in_server: (place) => correctAddress({ ...place, value: undefined }),
  no_server: (place) => correctAddress({ ...place, value: undefined }),
  protocol_assumed: (place) => setIn(place, 'protocols', ['x402']),
};

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(0, MAX_BYTES + 1));

/** Parses JSON, or what was meant to be JSON, such as one with a comma at the end: YAML takes that. Never throws. */
function parseLoosely(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_BYTES) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
    const document = text.length > MAX_LOOSE_BYTES ? undefined : parseDocument(text, options);
    return document?.errors.length === 0 ? document.toJS({ maxAliasCount: 0 }) : undefined;
  } catch (error) {
    // Aliases, or nesting that is too deep: nobody wrote that by mistake.
    if (error instanceof ReferenceError || error instanceof RangeError) return undefined;
    throw error;
  }
}
