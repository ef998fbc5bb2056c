import { parseDocument } from 'yaml';
import type { Finding } from '../model/declaration.ts';
import { DEFAULT_NETWORK, findNamedNetwork, isUsdc, NETWORKS, type Network } from '../model/network.ts';
import { formatUsdc, parseUsdc, readTypedPrice } from '../model/usdc.ts';
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

/** Largest text that is corrected, in bytes, and most rounds: reading an offer ends at its first fault. */
const MAX_BYTES = 256 * 1024;
const MAX_ROUNDS = 8;
const MAX_STEPS = 64;

/** Largest text that is read as YAML, which takes what people write in place of JSON: a comma at the end, other quotes. */
const MAX_LOOSE_BYTES = 32 * 1024;

type Parent = Record<string, unknown>;

/** The place of a finding in the JSON, and what is known around it. */
interface Place {
  root: unknown;
  path: string;
  key: string;
  value: unknown;
  /** The object whose member it is: an offer, an entry with a price, or the payment information of an operation. */
  holder: Parent;
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
  { url, item }: { url: string; item: string },
): Correction | undefined {
  const header = headers.get('payment-required');
  const texts = [...(header === null ? [] : [decodeHeader(header), header]), decode(body)];
  const value = texts.map(parseLoosely).find((one) => isObject(one) || Array.isArray(one));
  if (value === undefined) return undefined;
  const list = (challenge: unknown) => listChallengeFindings(readChallenge(buildAnswer(challenge)), item);
  const correction = correct(value, list, url);
  return header !== null && isObject(correction.value) && correction.value.x402Version === 1
    ? { ...correction, value: upgrade(correction.value, url) }
    : correction;
}

/** Corrects an API document that is JSON. Undefined if it cannot be read as such, or is too large. */
export function correctDocument(bytes: Uint8Array, url: string, options: ApiDocumentOptions): Correction | undefined {
  const value = bytes.byteLength > MAX_BYTES ? undefined : parseLoosely(decode(bytes));
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  return correct(
    value,
    (document) => {
      const read = readApiDocument(Buffer.from(JSON.stringify(document)), options);
      return 'code' in read ? [buildFinding('refused', read.code, url, read.message, read.place)] : read.findings;
    },
    url,
  );
}

/** Writes the header that carries a challenge of version 2; undefined for one that belongs in the body. */
export function encodeChallenge(challenge: unknown): string | undefined {
  if (!isObject(challenge) || challenge.x402Version !== 2) return undefined;
  return Buffer.from(JSON.stringify(challenge)).toString('base64');
}

function buildAnswer(challenge: unknown): { headers: Headers; body: Uint8Array } {
  const header = encodeChallenge(challenge);
  const headers = new Headers(header === undefined ? {} : { 'payment-required': header });
  return { headers, body: header === undefined ? Buffer.from(JSON.stringify(challenge)) : new Uint8Array() };
}

function correct(value: unknown, list: (value: unknown) => Finding[], url: string): Correction {
  const root = { value: structuredClone(value) };
  const steps = new Map<string, PatchStep[]>();
  let findings = list(root.value);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = steps.size;
    for (const finding of findings) {
      const key = getFindingKey(finding);
      const found = steps.has(key) || steps.size >= MAX_STEPS ? [] : findSteps(finding, root.value, url);
      if (found.length === 0) continue;
      steps.set(key, found);
      for (const step of found) applyStep(root, step);
    }
    if (steps.size === before) break;
    findings = list(root.value);
  }
  return { steps, value: root.value, isWhole: !findings.some(isInTheWay) };
}

/** Returns whether a finding keeps buyers away. */
function isInTheWay({ severity, code }: Finding): boolean {
  return severity === 'refused' || code === 'no_payable_operation';
}

function findSteps(finding: Finding, root: unknown, url: string): PatchStep[] {
  const corrector = CORRECTORS[finding.code];
  // What is in the header is about the whole challenge in it.
  const path = (finding.place ?? '').replace(/^header PAYMENT-REQUIRED$/, '');
  if (!corrector || !/^(?:\/|$)/.test(path)) return [];
  const place = locate(root, path, url);
  return place ? corrector(place) : [];
}

function splitPointer(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function getMember(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

function locate(root: unknown, path: string, url: string): Place | undefined {
  const keys = splitPointer(path);
  const values: unknown[] = [root];
  for (const key of keys) values.push(getMember(values.at(-1), key));
  const { length } = keys;
  // The price of an entry may be an object of its own, within the payment information.
  const at = values.findLastIndex((one, depth) => isObject(one) && (keys[depth - 1] !== 'price' || depth === 0));
  const holder = values[at];
  if (!isObject(holder) && path !== '') return undefined;
  const versions = values.flatMap((one) => getMember(one, 'x402Version') ?? []);
  return {
    root,
    path,
    key: keys.at(-1) ?? '',
    value: values[length],
    holder: isObject(holder) ? holder : {},
    holderPath: path
      .split('/')
      .slice(0, at + 1)
      .join('/'),
    version: versions.at(-1) === 1 ? 1 : 2,
    url,
  };
}

/** Applies a step. A place that does not exist is left alone, and no prototype is touched. */
export function applyStep(root: { value: unknown }, { op, path, value }: PatchStep): void {
  const keys = splitPointer(path);
  const key = keys.pop();
  if (key === undefined) {
    root.value = value;
    return;
  }
  const parent = keys.reduce<unknown>(getMember, root.value);
  if (typeof parent !== 'object' || parent === null || key === '__proto__') return;
  if (op === 'remove' && Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (op === 'remove') Reflect.deleteProperty(parent, key);
  else Reflect.set(parent, key, value);
}

/** Writes the members that steps set, as they are to be written in the document, one a line. */
export function formatSteps(steps: readonly PatchStep[]): string {
  const lines = steps
    .filter(({ op }) => op !== 'remove')
    .map(({ path, value }) => {
      const key = splitPointer(path).at(-1) ?? '';
      const text = JSON.stringify(value, null, 2);
      return key === '' || /^\d+$/.test(key) ? text : `${JSON.stringify(key)}: ${text}`;
    });
  return lines.join(',\n');
}

const set = (place: Pick<Place, 'path' | 'value'>, value: unknown): PatchStep[] =>
  value === undefined ? [] : [{ op: place.value === undefined ? 'add' : 'replace', path: place.path, value }];

const setIn = ({ holder, holderPath }: Place, key: string, value: unknown): PatchStep[] =>
  set({ path: `${holderPath}/${key}`, value: holder[key] }, value);

const remove = ({ path, value }: Place): PatchStep[] => (value === undefined ? [] : [{ op: 'remove', path }]);

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads an amount as its author meant it: atomic units where it is a whole number, else USDC. */
function readAmount(raw: unknown): string | undefined {
  const text = typeof raw === 'number' ? String(raw) : isText(raw) ? raw.trim().slice(0, 80) : '';
  const digits = text
    .replace(/[\s_']/g, '')
    .replace(/^\+/, '')
    .replace(/(?<=^\d{1,3}(?:,\d{3})*),(?=\d{3}(?:,|$))/g, '');
  if (/^\d+$/.test(digits)) return digits.replace(/^0+(?=\d)/, '');
  if (/^(?:\d+(?:\.\d+)?e\+?\d{1,2}|0x[0-9a-f]{1,13})$/i.test(digits)) {
    const number = Number(digits);
    return Number.isSafeInteger(number) ? String(number) : undefined;
  }
  const usdc = parseUsdc(readTypedPrice(text));
  if (usdc === undefined || usdc === 0) return undefined;
  return String(usdc <= MAX_PLAUSIBLE_AMOUNT ? usdc : Math.trunc(Number(digits)));
}

/** Finds the network that an offer means: that of its USDC, else the one it names, else that of its payee's account. */
function findMeantNetwork({ network, asset, payTo }: Parent, canBeOther = false): Network | undefined {
  const all: Network[] = Object.values(NETWORKS);
  const ofAsset = isText(asset) ? all.find(({ key }) => isUsdc(key, asset)) : undefined;
  const named = network === undefined ? undefined : findNamedNetwork(String(network));
  const family = canBeOther ? findAccount(payTo)?.family : undefined;
  return ofAsset ?? named ?? all.find((one) => one.family === family);
}

const writeNetwork = ({ version, root }: Place, network: Network | undefined): string | undefined =>
  // Documents that are no challenges take the id, whatever their version.
  network && (version === 1 && isObject(root) && root.x402Version === 1 ? network.key : network.id);

const correctNetwork = (canBeOther: boolean): Corrector => {
  return (place) => setIn(place, 'network', writeNetwork(place, findMeantNetwork(place.holder, canBeOther)));
};

/** Moves an offer on a test network to the main one, whose USDC has another address. */
const leaveTestNetwork: Corrector = (place) => {
  const network = findMeantNetwork(place.holder, true);
  if (!network) return [];
  const { asset } = place.holder;
  const isOther = isText(asset) && !isUsdc(network.key, asset);
  return [
    ...setIn(place, 'network', writeNetwork(place, network)),
    ...(isOther ? setIn(place, 'asset', network.usdc) : []),
  ];
};

const correctAsset: Corrector = (place) => {
  if (isText(place.value) && place.value.trim() !== '' && !/^(?:usdc?|usd coin|iso4217:usd)$/i.test(place.value.trim()))
    return [];
  const network = findOfferNetwork(place.holder.network, null);
  return 'key' in network ? set(place, NETWORKS[network.key].usdc) : [];
};

const correctAmount: Corrector = (place) => {
  const amount = readAmount(place.value);
  return amount === undefined || amount === '0' || amount === place.value ? [] : set(place, amount);
};

/** Takes the amount from the member of the other version, or from a price. */
const findAmount: Corrector = (place) => {
  const other = ['amount', 'maxAmountRequired', 'price', 'value'].find(
    (name) => name !== place.key && readAmount(place.holder[name]) !== undefined,
  );
  if (other === undefined) return [];
  const amount = readAmount(place.holder[other]);
  return [...set(place, amount), { op: 'remove', path: `${place.holderPath}/${other}` }];
};

/** Divides an amount that was counted with 18 decimals. */
const correctDecimals: Corrector = (place) => {
  const text = isText(place.value) && /^\d{13,40}$/.test(place.value) ? place.value : undefined;
  const amount = text?.endsWith('0'.repeat(12)) ? Number(text.slice(0, -12)) : 0;
  return amount > 0 && amount <= MAX_PLAUSIBLE_AMOUNT ? set(place, String(amount)) : [];
};

const findPayee: Corrector = (place) => {
  const isPayee = (name: string) => PAYEE_NAMES.includes(name.toLowerCase().replace(/[^a-z]/g, ''));
  const trimmed = isText(place.value) ? place.value.trim() : undefined;
  const other = Object.entries(place.holder).find(([name, value]) => isPayee(name) && findAccount(value) !== undefined);
  if (trimmed !== undefined && trimmed !== place.value && findAccount(trimmed)) return set(place, trimmed);
  if (!other || other[0] === place.key) return [];
  return [...set(place, other[1]), { op: 'remove', path: `${place.holderPath}/${other[0]}` }];
};

/** Removes the member that says the same as another one in other words. */
const removeOther = (...names: readonly string[]): Corrector => {
  return (place) => {
    const [own, ...others] = place.version === 1 ? names.toReversed() : names;
    if (place.key !== own) return remove(place);
    const other = others.find((name) => place.holder[name] !== undefined);
    return other === undefined ? [] : [{ op: 'remove', path: `${place.holderPath}/${other}` }];
  };
};

const correctVersion: Corrector = ({ root, path, value }) => {
  const [first] = [getMember(root, 'accepts')].flat();
  const guess = getMember(first, 'maxAmountRequired') === undefined ? 2 : 1;
  return set({ path, value }, ['1', '2'].includes(String(value)) ? Number(value) : guess);
};

const correctOffers: Corrector = (place) => {
  if (isObject(place.value)) return set(place, [place.value]);
  const names = ['paymentRequirements', 'requirements', 'offers', 'accept', 'payment'];
  const name = names.find((one) => getMember(place.root, one) !== undefined);
  if (name === undefined) return [];
  return [...set(place, [place.holder[name]].flat()), { op: 'remove', path: `/${name}` }];
};

/** Puts the address that was asked in the place of one that nobody else can call. */
const correctAddress: Corrector = (place) => {
  const { origin } = new URL(place.url);
  if (isText(place.value)) {
    const written = URL.parse(place.value) ?? URL.parse(place.value, origin);
    return written ? set(place, `${origin}${getTemplatePath(written)}`) : [];
  }
  const servers = getMember(place.root, 'servers');
  const first = getMember(Array.isArray(servers) ? servers[0] : undefined, 'url');
  const path = isText(first) && !/[{}]/.test(first) ? (URL.parse(first)?.pathname ?? '') : '';
  return set({ path: '/servers', value: servers }, [{ url: `${origin}${path.replace(/\/+$/, '')}` }]);
};

const secureAddress: Corrector = (place) =>
  isText(place.value) ? set(place, place.value.replace(/^http:/i, 'https:')) : correctAddress(place);

/** States a price in USDC, as a decimal number. */
const nameCurrency: Corrector = (place) => {
  if (place.key === 'currency') return set(place, 'USDC');
  const price = isText(place.value) ? parseUsdc(readTypedPrice(place.value)) : undefined;
  if (price === undefined) return setIn(place, 'currency', 'USDC');
  return [...set(place, formatUsdc(price)), ...setIn(place, 'currency', 'USDC')];
};

/** Takes a whole number of hundred and more for atomic units: nothing costs a hundred USDC a request. */
const stateAmbiguous: Corrector = (place) => {
  const amount = readAmount(place.value);
  if (amount === undefined || Number(amount) < 100) return [];
  return [...set(place, formatUsdc(Number(amount))), ...setIn(place, 'currency', 'USDC')];
};

/** Corrects a member that the schema of the x402 SDK refuses. */
const conform: Corrector = (place) => {
  const { path, value, url, version, holder } = place;
  const inOffer = /^\/accepts\/\d+\/(\w+)$/.exec(path)?.[1];
  if (path === '/resource') return set(place, { url: isText(value) && value !== '' ? value : url });
  if (path === '/resource/url' || inOffer === 'resource') return set(place, url);
  if (path === '/resource/serviceName' && isText(value)) {
    const name = value
      .replace(/[^\x20-\x7e]/g, '')
      .slice(0, 32)
      .trim();
    return name === '' ? remove(place) : set(place, name);
  }
  if (inOffer === 'description') return set(place, '');
  if (inOffer === 'network') return set(place, writeNetwork(place, findMeantNetwork(holder)));
  if (inOffer === (version === 1 ? 'maxAmountRequired' : 'amount')) return correctAmount(place);
  if (inOffer === 'scheme') return set(place, 'exact');
  if (inOffer === 'maxTimeoutSeconds') return correctTimeout(place);
  const isOptional =
    /^\/(?:resource\/\w+|error|extensions)/.test(path) || ['extra', 'mimeType', 'outputSchema'].includes(inOffer ?? '');
  return isOptional ? remove(locate(place.root, path.replace(/^(\/resource\/tags)\/.*/, '$1'), url) ?? place) : [];
};

const correctTimeout: Corrector = (place) => {
  const seconds = Math.round(Number(place.value));
  return set(place, seconds >= 1 && seconds <= 86_400 ? seconds : 60);
};

/** Spells the networks of all offers as the version does. */
const spellNetworks: Corrector = (place) =>
  [getMember(place.root, 'accepts')].flat().flatMap((offer, index): PatchStep[] => {
    if (!isObject(offer)) return [];
    const name = writeNetwork(place, findMeantNetwork(offer));
    const path = `/accepts/${index}/network`;
    return name === undefined || name === offer.network ? [] : set({ path, value: offer.network }, name);
  });

/** Writes a challenge of version 1 as version 2 has it. */
function upgrade(challenge: Parent, url: string): Parent {
  const offers = [challenge.accepts].flat().filter(isObject);
  const [first] = offers;
  const { accepts: _accepts, x402Version: _version, ...rest } = challenge;
  return {
    x402Version: 2,
    ...rest,
    resource: {
      url: isText(first?.resource) ? first.resource : url,
      ...(isText(first?.description) && { description: first.description }),
      ...(isText(first?.mimeType) && { mimeType: first.mimeType }),
    },
    accepts: offers.map(
      ({ maxAmountRequired, resource: _r, description: _d, mimeType: _m, outputSchema: _o, network, ...offer }) => ({
        ...offer,
        network: findNamedNetwork(String(network))?.id ?? network,
        ...(offer.amount === undefined && { amount: maxAmountRequired }),
      }),
    ),
  };
}

/** The corrections that need no word of the author, by the code of the finding. */
const CORRECTORS: Readonly<Record<string, Corrector>> = {
  bad_amount: correctAmount,
  amount_as_number: (place) => (typeof place.value === 'number' ? set(place, String(place.value)) : []),
  no_amount: findAmount,
  implausible_price: correctDecimals,
  ambiguous_price: stateAmbiguous,
  usd_as_usdc: nameCurrency,
  no_network: correctNetwork(true),
  unsupported_network: correctNetwork(false),
  network_spelling: spellNetworks,
  network_assumed: (place) => setIn(place, 'network', NETWORKS[DEFAULT_NETWORK].id),
  test_network: leaveTestNetwork,
  test_network_mainnet_asset: correctNetwork(false),
  no_asset: correctAsset,
  asset_not_an_address: correctAsset,
  bad_pay_to: findPayee,
  pay_to_differs: removeOther('payTo', 'recipient'),
  amount_differs: removeOther('amount', 'maxAmountRequired'),
  bad_scheme: (place) => set(place, 'exact'),
  scheme_assumed: (place) => set(place, 'exact'),
  bad_timeout: correctTimeout,
  odd_timeout: correctTimeout,
  no_version: correctVersion,
  bad_version: correctVersion,
  no_accepts: correctOffers,
  not_an_object: ({ root, path }) =>
    Array.isArray(root)
      ? [
          {
            op: 'replace',
            path,
            value: { x402Version: getMember(root[0], 'maxAmountRequired') === undefined ? 2 : 1, accepts: root },
          },
        ]
      : [],
  not_conforming: conform,
  version_1_in_header: ({ root, path, url }) =>
    isObject(root) ? [{ op: 'replace', path, value: upgrade(root, url) }] : [],
  bad_url: correctAddress,
  not_https: correctAddress,
  http_as_https: secureAddress,
  blocked_address: correctAddress,
  blocked_host: correctAddress,
  blocked_port: correctAddress,
  userinfo: correctAddress,
  wildcard_path: (place) => (isText(place.value) ? correctAddress(place) : []),
  stand_in_server: (place) => correctAddress({ ...place, value: undefined }),
  no_server: (place) => correctAddress({ ...place, value: undefined }),
  protocol_assumed: (place) => setIn(place, 'protocols', ['x402']),
};

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_BYTES + 1));
}

/** Decodes a header in base 64 of any spelling. */
function decodeHeader(header: string): string {
  return Buffer.from(header.trim(), 'base64').toString();
}

/** Parses JSON, or what was meant to be JSON. Never throws. */
function parseLoosely(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_BYTES) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return text.length > MAX_LOOSE_BYTES ? undefined : parseAsYaml(text);
  }
}

function parseAsYaml(text: string): unknown {
  try {
    const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    // Aliases, or nesting that is too deep: nobody wrote that by mistake.
    if (error instanceof ReferenceError || error instanceof RangeError) return undefined;
    throw error;
  }
}
