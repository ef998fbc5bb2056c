import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ServiceError } from '../../errors.ts';
import { type EvmNetwork, isPublicChain, PERMIT2 } from '../../model/network.ts';
import { isCeiling, type Terms } from '../../model/terms.ts';
import { formatUsdc } from '../../model/usdc.ts';
import type { Requirement } from '../../x402/requirements.ts';
import type { RpcUrls } from '../nodes.ts';
import { checkClock, MAX_VALIDITY_SECONDS, type Rail } from '../rail.ts';
import { AUTHORISATION_TYPES, buildAuthorisation, buildMessage, getUsdcDomain } from './authorisation.ts';
import { openEvmChain } from './chain.ts';
import { formatSeconds, openNode, readHead } from './node.ts';
import {
  buildPermit,
  buildPermitMessage,
  getPermitDomain,
  PERMIT_TYPES,
  readAllowance,
  readFacilitator,
} from './permit.ts';

/**
 * Largest age of the latest block, in seconds. A chain makes a block every few seconds, so with an older one the node or our
 * clock is wrong.
 */
const MAX_LAG_SECONDS = 60;

/**
 * Opens payments on a chain of the family. `privateKey` is 32 bytes in hexadecimal, and stays inside. Throws `bad_input`
 * (`bad_key`) for anything else, without quoting it.
 */
export function openEvmRail(
  chain: EvmNetwork,
  {
    privateKey,
    rpcUrls,
    timeoutMs,
  }: {
    privateKey: string;
    rpcUrls: RpcUrls;
    /** Time limit for one answer of a node, in milliseconds. Default: ten seconds. */
    timeoutMs?: number;
  },
): Rail {
  const account = openAccount(chain, privateKey);
  const nodes = rpcUrls.map((url) => openNode(chain, url, timeoutMs));
  return {
    network: chain.key,
    payer: account.address.toLowerCase(),
    chain: openEvmChain(chain, rpcUrls, timeoutMs),
    async identify(requirement, now) {
      const { terms } = requirement;
      if (isCeiling(terms)) {
        getFacilitator(requirement);
        const allowed = nodes.map(async (open) => readAllowance(await open(), account.address));
        for (const units of await Promise.all(allowed)) checkAllowance(chain, account.address, terms, units);
      }
      const seconds = Math.min(terms.max_timeout_seconds ?? MAX_VALIDITY_SECONDS, MAX_VALIDITY_SECONDS);
      const ours = Math.floor(now.getTime() / 1000);
      const heads = await Promise.all(
        nodes.map(async (open) => {
          const node = await open();
          const head = await readHead(node);
          const isLate = ours - Number(head.timestamp) > MAX_LAG_SECONDS;
          if (isLate && isPublicChain(chain.key, node.genesis)) throw buildLagFailure(chain);
          checkClock(now, formatSeconds(head.timestamp));
          return head;
        }),
      );
      // The lowest value is used, so that no single node can change the expiry, or the block at which the search begins.
      const headTime = Math.min(...heads.map(({ timestamp }) => Number(timestamp)));
      // The chain's clock may be slightly ahead of ours, and the expiry is by the chain's clock.
      const start = Math.max(ours, headTime);
      return {
        nonce: `0x${randomBytes(32).toString('hex')}`,
        from_block: Math.min(...heads.map(({ number }) => Number(number))),
        head_at: new Date(headTime * 1000).toISOString(),
        expires_at: new Date((start + seconds) * 1000).toISOString(),
        expires_block: null,
      };
    },
    async sign(payment, requirement) {
      if (isCeiling(payment)) {
        const permit2Authorization = buildPermit(chain, payment, getFacilitator(requirement));
        const signature = await account.signTypedData({
          domain: getPermitDomain(chain),
          types: PERMIT_TYPES,
          primaryType: 'PermitWitnessTransferFrom',
          message: buildPermitMessage(permit2Authorization),
        });
        return { payload: { signature, permit2Authorization }, signature: null };
      }
      const authorization = buildAuthorisation(payment);
      const signature = await account.signTypedData({
        domain: getUsdcDomain(chain),
        types: AUTHORISATION_TYPES,
        primaryType: 'TransferWithAuthorization',
        message: buildMessage(authorization),
      });
      return { payload: { signature, authorization }, signature: null };
    },
  };
}

/** Returns the account that an offer with a ceiling names to settle it. Throws `refused` (`no_facilitator`) without one. */
function getFacilitator({ raw }: Requirement): string {
  const facilitator = readFacilitator(raw);
  if (facilitator !== undefined) return facilitator;
  throw new ServiceError('refused', 'The offer names no account that may settle it.', {
    hint: 'Nothing was sent. extra.facilitatorAddress of an offer of the scheme upto is an address.',
    reason: 'no_facilitator',
  });
}

/** Throws `refused` (`allowance`) if Permit2 may not move the ceiling of an offer out of the wallet. */
function checkAllowance({ usdc, label, coin }: EvmNetwork, payer: string, { amount }: Terms, allowed: bigint): void {
  if (allowed >= BigInt(amount)) return;
  throw new ServiceError(
    'refused',
    `The wallet ${payer} lets Permit2 move ${formatUsdc(Number(allowed))} USDC; the call may cost ${formatUsdc(amount)}.`,
    {
      hint:
        `Allow it once, for as much as you want to spend so: from the wallet, with a little ${coin} on ${label}, call ` +
        `approve(${PERMIT2}, <atomic USDC>) of USDC (${usdc}).`,
      reason: 'allowance',
    },
  );
}

/**
 * Builds the failure for a latest block that is too old. With a wrong clock a payment would be valid for too long, and a node
 * that is behind would not find it.
 */
function buildLagFailure({ nodeSetting }: EvmNetwork): ServiceError {
  return new ServiceError('unavailable', "By the clock of this machine the node's latest block is too old.", {
    hint: `Set the clock, or set ${nodeSetting} to a node that is up to date.`,
    reason: 'chain_behind',
  });
}

function openAccount({ label }: EvmNetwork, privateKey: string) {
  const key = privateKey.trim().replace(/^0x/, '');
  if (/^[0-9a-f]{64}$/i.test(key)) {
    try {
      return privateKeyToAccount(`0x${key}` as Hex);
    } catch {
      // The number is not valid on the curve. The library's error is dropped, because it might show the key.
    }
  }
  throw new ServiceError('bad_input', `The key of the wallet on ${label} is not a private key.`, {
    hint: 'PAYER_EVM_PRIVATE_KEY, or the file that PAYER_EVM_KEY_FILE names, holds 64 hexadecimal digits.',
    reason: 'bad_key',
  });
}
