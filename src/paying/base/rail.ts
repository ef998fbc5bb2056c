import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ServiceError } from '../../errors.ts';
import { isPublicChain } from '../../model/network.ts';
import { checkClock, MAX_VALIDITY_SECONDS, type Rail } from '../rail.ts';
import { AUTHORISATION_TYPES, buildAuthorisation, buildMessage, USDC_DOMAIN } from './authorisation.ts';
import { formatSeconds, openBaseChain, openNode, readHead } from './chain.ts';

/**
 * Base makes a block every two seconds. If the latest one is older than this, the node or our clock is wrong; in
 * seconds.
 */
const MAX_LAG_SECONDS = 60;

/**
 * Opens payments on Base. `privateKey` is 32 bytes in hexadecimal and stays inside. Throws `bad_input` (`bad_key`) for
 * anything else, without quoting it.
 */
export function openBaseRail({
  privateKey,
  rpcUrls,
  timeoutMs,
}: {
  privateKey: string;
  rpcUrls: readonly [string, ...string[]];
  /** Time limit for one answer of a node, in milliseconds. Default: ten seconds. */
  timeoutMs?: number;
}): Rail {
  const account = openAccount(privateKey);
  const nodes = rpcUrls.map((url) => openNode(url, timeoutMs));
  return {
    network: 'base',
    payer: account.address.toLowerCase(),
    chain: openBaseChain(rpcUrls, timeoutMs),
    async identify({ terms }, now) {
      const seconds = Math.min(terms.max_timeout_seconds ?? MAX_VALIDITY_SECONDS, MAX_VALIDITY_SECONDS);
      const ours = Math.floor(now.getTime() / 1000);
      const heads = await Promise.all(
        nodes.map(async (open) => {
          const { client, genesis } = await open();
          const head = await readHead(client);
          if (isPublicChain('base', genesis) && ours - Number(head.timestamp) > MAX_LAG_SECONDS)
            throw buildLagFailure();
          checkClock(now, formatSeconds(head.timestamp));
          return head;
        }),
      );
      // The lowest value counts, so that no single node can move the expiry or the block at which the search begins.
      const headTime = Math.min(...heads.map(({ timestamp }) => Number(timestamp)));
      // The chain's clock may be a little ahead of ours, and the chain decides about the expiry.
      const start = Math.max(ours, headTime);
      return {
        nonce: `0x${randomBytes(32).toString('hex')}`,
        from_block: Math.min(...heads.map(({ number }) => Number(number))),
        head_at: new Date(headTime * 1000).toISOString(),
        expires_at: new Date((start + seconds) * 1000).toISOString(),
        expires_block: null,
      };
    },
    async sign(payment) {
      const authorization = buildAuthorisation(payment);
      const signature = await account.signTypedData({
        domain: USDC_DOMAIN,
        types: AUTHORISATION_TYPES,
        primaryType: 'TransferWithAuthorization',
        message: buildMessage(authorization),
      });
      return { payload: { signature, authorization }, signature: null };
    },
  };
}

/**
 * Builds the failure for an old latest block. With a wrong clock a payment would be valid for too long, and a node that
 * is behind would not find it.
 */
function buildLagFailure(): ServiceError {
  return new ServiceError('unavailable', "By the clock of this machine the node's latest block is too old.", {
    hint: 'Set the clock, or set EVM_RPC_URL to a node that is up to date.',
    reason: 'chain_behind',
  });
}

function openAccount(privateKey: string) {
  const key = privateKey.trim().replace(/^0x/, '');
  if (/^[0-9a-f]{64}$/i.test(key)) {
    try {
      return privateKeyToAccount(`0x${key}` as Hex);
    } catch {
      // The number is not valid on the curve. The library's error is dropped, because it might show the key.
    }
  }
  throw new ServiceError('bad_input', 'The key of the wallet on Base is not a private key.', {
    hint: 'PAYER_EVM_PRIVATE_KEY, or the file that PAYER_EVM_KEY_FILE names, holds 64 hexadecimal digits.',
    reason: 'bad_key',
  });
}
