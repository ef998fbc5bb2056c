import { formatPointer } from '../finding-codes.ts';
import { findMember, isObject } from '../json-value.ts';

type Raw = Record<string, unknown>;

/** Most offers of one item that are read. */
export const MAX_OFFERS = 32;

/** Lists the offers of an item, at most the first 32; empty if it has no list. */
export function listOffers(item: unknown): unknown[] {
  const accepts = findMember(item, 'accepts');
  return Array.isArray(accepts) ? accepts.slice(0, MAX_OFFERS) : [];
}

/** Places where an item may have its address, the first place first. */
const RESOURCE_PLACES = [['resource'], ['resource', 'url'], ['url'], ['resourceUrl'], ['resource_url']];

/**
 * Finds the address of an item, and its place as a JSON pointer: `resource` as text or as an object with `url`, `url`
 * itself, else the address of the first offer with one.
 */
export function findResourcePlace(item: unknown): { address: string; place: string } | undefined {
  for (const path of RESOURCE_PLACES) {
    const address = findMember(item, ...path);
    if (typeof address === 'string') return { address, place: formatPointer(...path) };
  }
  for (const [index, offer] of listOffers(item).entries()) {
    const address = findMember(offer, 'resource');
    if (typeof address === 'string') return { address, place: formatPointer('accepts', index, 'resource') };
  }
  return undefined;
}

/** Lists the Bazaar declarations of an item: `extensions.bazaar` of the item itself, then of its offers. */
export function listDeclarations(item: unknown): Raw[] {
  return [item, ...listOffers(item)].map((holder) => findMember(holder, 'extensions', 'bazaar')).filter(isObject);
}

/** Lists the descriptions of an item's request: version 2's `info.input`, then version 1's `outputSchema.input`. */
export function listInputs(item: unknown): Raw[] {
  return listSides(item, 'input');
}

/** Lists the descriptions of an item's answer: version 2's `info.output`, then version 1's `outputSchema.output`. */
export function listOutputs(item: unknown): Raw[] {
  return listSides(item, 'output');
}

function listSides(item: unknown, side: 'input' | 'output'): Raw[] {
  const infos = listDeclarations(item).map((declared) => findMember(declared, 'info', side));
  const schemas = [item, ...listOffers(item)].flatMap((holder) => listStated(findMember(holder, 'outputSchema'), side));
  return [...infos, ...schemas].filter(isObject);
}

/** Lists one side of an `outputSchema`. Some have a whole description in the place of the answer's. */
function listStated(stated: unknown, side: 'input' | 'output'): unknown[] {
  const inner = findMember(stated, 'output');
  if (!isObject(inner) || findMember(inner, 'input', 'type') !== 'http') return [findMember(stated, side)];
  const { input, output, ...rest } = inner;
  return side === 'input' ? [input, findMember(stated, 'input')] : [output ?? rest];
}

/** Lists the methods that an item declares, in capitals, the most reliable one first. */
export function listMethods(item: unknown): string[] {
  const places = [
    findMember(item, 'method'),
    findMember(item, 'resource', 'method'),
    ...listInputs(item).map((input) => input.method),
    ...listOffers(item).map((offer) => findMember(offer, 'method')),
  ];
  const methods = places.filter((place): place is string => typeof place === 'string' && place.trim() !== '');
  return [...new Set(methods.map((method) => method.trim().slice(0, 40).toUpperCase()))];
}
