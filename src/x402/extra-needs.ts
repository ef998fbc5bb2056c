import { EXTENSIONS, isAbility } from '../model/ability.ts';
import { isObject } from '../model/json.ts';
import { isEvm, type NetworkKey } from '../model/network.ts';
import { parsePayTo } from './offer-fields.ts';

/** Most needs of one offer that are kept. */
const MAX_NEEDS = 8;

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Members that an offer may leave out. No extension has one of these names. */
const OMITTED = ['fee-payer', 'facilitator'];

/**
 * Lists the needs of a client that pays an offer, beyond its network, scheme and version: the transfer method in its
 * `extra` (`assetTransferMethod` of the schemes on EVM), and the extensions that the document around it requires
 * (`info.required`). Sorted; at most eight names are kept, and one that cannot be kept is `other-extension`.
 */
export function listExtraNeeds(
  { network, extra }: { network: NetworkKey; extra: unknown },
  extensions: unknown,
): string[] {
  const method = isEvm(network) && isObject(extra) ? extra.assetTransferMethod : undefined;
  const transfer = typeof method === 'string' && method !== 'eip3009' && NAME.test(method) ? [getTransfer(method)] : [];
  const required = Object.entries(isObject(extensions) ? extensions : {}).flatMap(([name, value]) =>
    isObject(value) && isObject(value.info) && value.info.required === true ? getExtension(name) : [],
  );
  return [...transfer, ...new Set(required.sort())].slice(0, MAX_NEEDS);
}

/** Returns the need for an extension: its name, or `other-extension` for a malformed name and for the name of another need. */
function getExtension(name: string): string {
  const isTaken = (isAbility(name) && !EXTENSIONS.some((extension) => extension === name)) || OMITTED.includes(name);
  return NAME.test(name) && !isTaken ? name : 'other-extension';
}

/** Flows of settlement that the SDK's clients know. */
const FLOWS: readonly unknown[] = ['authorization', 'upfront', 'escrow'];

/**
 * Returns the need for a transfer method. A method that no client of the SDK has is marked as one, so that it is not
 * taken for an extension.
 */
function getTransfer(method: string): string {
  return method === 'permit2' ? method : `transfer-${method}`;
}

/**
 * Lists the members that an offer of a live challenge leaves out, so that most clients, or all, cannot pay it. The
 * SDK's clients throw without these members of `extra`: `exact` on EVM needs the EIP-712 domain of the token if it
 * moves by EIP-3009, `upto` on EVM the facilitator that may settle, and every scheme on Solana the account that pays
 * the fee. Text that is not an account counts as missing. An offer with a `paymentFlow` that these clients do not know
 * cannot be paid by them.
 */
export function listOmissions({
  network,
  scheme,
  extra,
}: {
  network: NetworkKey;
  scheme: string;
  extra: unknown;
}): string[] {
  const given = isObject(extra) ? extra : {};
  const has = (name: string) => typeof given[name] === 'string' && given[name] !== '';
  const flow = FLOWS.includes(given.paymentFlow ?? FLOWS[0]) ? [] : ['other-flow'];
  if (!isEvm(network)) return [...(parsePayTo(network, given.feePayer) ? [] : ['fee-payer']), ...flow];
  if (scheme === 'upto') return [...(parsePayTo(network, given.facilitatorAddress) ? [] : ['facilitator']), ...flow];
  const isByAuthorisation = scheme === 'exact' && (given.assetTransferMethod ?? 'eip3009') !== 'permit2';
  return [...(isByAuthorisation && !(has('name') && has('version')) ? ['usdc-domain'] : []), ...flow];
}
