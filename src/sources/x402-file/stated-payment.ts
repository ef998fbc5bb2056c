import { findNamedNetwork, findNetwork, NETWORKS, type NetworkKey } from '../../model/network.ts';
import { PAYEE_NAMES } from '../../x402/ambiguities.ts';
import { findAccount, parsePayTo } from '../../x402/offer-fields.ts';
import { listOffers } from '../bazaar/item-fields.ts';
import { formatPointer } from '../finding-codes.ts';
import { findMember, isObject, listNamed, type Named } from '../json-value.ts';
import { findStatedPrice, PAYMENT_HOLDERS, type StatedPrice } from '../price.ts';

type Raw = Record<string, unknown>;

/** One way to pay: a network with the payee and the asset there, as far as they are stated. */
interface Way {
  network: string;
  pay_to: unknown;
  asset: unknown;
}

/** Most ways to pay. */
const MAX_WAYS = 16;

/** Names of lists of ways to pay. */
const WAY_LISTS = new Set([
  ...['rails', 'accepts', 'methods', 'options', 'networks', 'chains', 'paymentmethods', 'acceptednetworks', 'pricing'],
]);

const STATED_PAYEES = new Set([...PAYEE_NAMES, 'wallets', 'recipients', 'payees']);
const NETWORK_NAMES = new Set(['network', 'networks', 'chain', 'chains', 'chainid', 'caip2', 'networkid']);

/** Lists the ways to pay that an object states: its own, those of objects about paying in it, and those of its lists. */
export function listWays(holder: unknown, depth = 0): Way[] {
  const members = listNamed(holder);
  const payee =
    members.find(([normal]) => STATED_PAYEES.has(normal))?.[1] ??
    (depth > 0 ? findMember(holder, 'address') : undefined);
  const asset = readAsset(findMember(holder, 'asset') ?? findMember(holder, 'token'));
  const networks = members
    .filter(([normal]) => NETWORK_NAMES.has(normal))
    .flatMap(([, member]) => readNetworks(member));
  const keyed = isObject(payee) ? Object.keys(payee).slice(0, MAX_WAYS).map(readNetwork) : [];
  const named = [...new Set(networks.length > 0 ? networks : keyed)];
  const own = named.map((network) => ({
    network,
    asset,
    pay_to: findPayee(payee, network) ?? findNamedPayee(members, network),
  }));
  if (depth >= 2) return own.slice(0, MAX_WAYS);
  const nested = members.flatMap(([normal, member]) => {
    if (WAY_LISTS.has(normal) && Array.isArray(member)) {
      return member.slice(0, MAX_WAYS).flatMap((one) => (isObject(one) ? listWays(one, depth + 1) : []));
    }
    return PAYMENT_HOLDERS.has(normal) && isObject(member) ? listWays(member, depth + 1) : [];
  });
  return mergeWays([...nested, ...own], payee);
}

/** Merges ways on the same network: the first that states a payee or an asset counts. */
function mergeWays(ways: readonly Way[], payee: unknown): Way[] {
  const merged = new Map<string, Way>();
  for (const way of ways) {
    const known = merged.get(way.network);
    const pay_to = known?.pay_to ?? way.pay_to ?? findPayee(payee, way.network);
    merged.set(way.network, { network: way.network, pay_to, asset: known?.asset ?? way.asset });
  }
  return [...merged.values()].slice(0, MAX_WAYS);
}

/** Returns the payee on a network: the one of the network in a map; one that fits the network in a list or a text. */
function findPayee(payee: unknown, network: string): unknown {
  const key = findNetwork(network)?.key;
  if (isObject(payee)) {
    const entry = Object.entries(payee)
      .slice(0, MAX_WAYS)
      .find(([name]) => readNetwork(name) === network);
    const value = entry?.[1];
    return isObject(value) ? (value.payTo ?? value.address) : value;
  }
  const all = (Array.isArray(payee) ? payee.slice(0, MAX_WAYS) : [payee]).filter((one) => typeof one === 'string');
  return (
    all.find((one) => key !== undefined && parsePayTo(key, one) !== undefined) ??
    (isOfOtherFamily(all, key) ? undefined : all[0])
  );
}

/** Finds a payee whose name says its network: `pay_to_base`. */
function findNamedPayee(members: readonly Named[], network: string): unknown {
  const named = members.find(([normal]) => [...PAYEE_NAMES].some((name) => normal === `${name}${network}`));
  return named?.[1];
}

/** Returns whether a payee is an account of another family than that of a network, and so says nothing about it. */
function isOfOtherFamily(payees: readonly unknown[], key: NetworkKey | undefined): boolean {
  const families = payees.map((one) => findAccount(one)?.family).filter((family) => family !== undefined);
  return key !== undefined && families.some((family) => family !== NETWORKS[key].family);
}

function readNetworks(raw: unknown): string[] {
  const list = Array.isArray(raw) ? raw.slice(0, MAX_WAYS) : [raw];
  return list
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map((one) => readNetwork(String(one)));
}

/** Spells the names of a main network as x402 does; everything else stays as it is. */
function readNetwork(raw: string): string {
  const name = raw.trim();
  return findNamedNetwork(name)?.key ?? name;
}

function readAsset(raw: unknown): unknown {
  const asset = isObject(raw) ? raw.address : raw;
  return typeof asset === 'string' && /^(?:usdc?|usd coin)$/i.test(asset.trim()) ? undefined : asset;
}

/** A payment as an OpenAPI operation would state it, and the place of its price in the entry. */
interface StatedPayment {
  info: Raw;
  place: string;
  isAmbiguous: boolean;
}

/**
 * Builds the payment information of an entry from what it and its file state: the price from the entry, else from one of
 * its offers, else from the file; networks and payees likewise. Undefined if no price is stated.
 */
export function findStatedPayment(entry: unknown, file: unknown): (StatedPayment & { isOfFile: boolean }) | undefined {
  const own = findStatedPrice(entry) ?? findOfferPrice(entry);
  const price = own ?? findStatedPrice(file);
  if (!price) return undefined;
  const ways = listWays(entry);
  const all = mergeWays([...(ways.length > 0 ? ways : listWays(file))], findPayeeOf(entry) ?? findPayeeOf(file));
  const { amount, currency, mode, unit } = price;
  const details = all.map(({ network, asset, pay_to }) => ({
    network,
    ...(asset !== undefined && { asset }),
    ...(pay_to !== undefined && { payTo: pay_to }),
    ...(unit === 'atomic' && { maxAmountRequired: String(amount) }),
  }));
  const info = {
    protocols: (details.length > 0 ? details : [unit === 'atomic' ? { maxAmountRequired: String(amount) } : {}]).map(
      (x402) => ({ x402 }),
    ),
    ...(unit === 'decimal' && { price: { mode, currency, amount } }),
  };
  return { info, place: price.place, isAmbiguous: unit === 'ambiguous', isOfFile: own === undefined };
}

function findOfferPrice(entry: unknown): StatedPrice | undefined {
  for (const [index, offer] of listOffers(entry).entries()) {
    const found = findStatedPrice(offer, 0, true);
    if (found) return { ...found, place: `${formatPointer('accepts', index)}${found.place}` };
  }
  return undefined;
}

function findPayeeOf(holder: unknown): unknown {
  return listNamed(holder).find(([normal]) => STATED_PAYEES.has(normal))?.[1];
}
