import { randomBytes } from 'node:crypto';
import {
  address,
  type Blockhash,
  compileTransaction,
  createKeyPairSignerFromBytes,
  createKeyPairSignerFromPrivateKeyBytes,
  getBase58Encoder,
  isOffCurveAddress,
  type KeyPairSigner,
} from '@solana/kit';
import { ServiceError } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { SvmNetwork } from '../../model/network.ts';
import { parsePayTo } from '../../x402/offer-fields.ts';
import type { Requirement } from '../../x402/requirements.ts';
import type { RpcUrls } from '../nodes.ts';
import { checkClock, MAX_VALIDITY_SECONDS, type Rail } from '../rail.ts';
import { openRpc, openSvmChain, readHeadTime, readLifetime } from './chain.ts';
import { buildTransfer, signTransfer, type Transfer } from './transfer.ts';

/** Longest memo of a transfer (scheme `exact` on Solana), in bytes. */
const MAX_MEMO_BYTES = 256;

/**
 * Opens payments on a chain of the family. `privateKey` is in base 58 (32 or 64 bytes), or the JSON array of bytes that Solana's
 * tools write. Throws `bad_input` (`bad_key`) for anything else, without quoting it.
 */
export async function openSvmRail(
  chain: SvmNetwork,
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
): Promise<Rail> {
  const signer = await openSigner(chain, privateKey);
  const rpcs = rpcUrls.map((url) => openRpc(url, timeoutMs));
  const lifetimes = new Map<string, { blockhash: Blockhash; lastValidBlockHeight: bigint }>();
  return {
    network: chain.key,
    payer: signer.address,
    chain: openSvmChain(chain, rpcUrls, timeoutMs),
    async identify(requirement, now) {
      const feePayer = getFeePayer(chain, requirement, signer.address);
      const nonce = getMemo(chain, requirement) ?? randomBytes(16).toString('hex');
      const { slot, ...lifetime } = await readLifetime(chain, rpcs);
      const heads = await Promise.all(rpcs.map((rpc) => readHeadTime(chain, rpc)));
      for (const head of heads) checkClock(now, head);
      const { pay_to, amount } = requirement.terms;
      await checkTransfer({ chain, signer, payTo: pay_to ?? '', amount, feePayer, memo: nonce, lifetime });
      lifetimes.set(nonce, lifetime);
      return {
        nonce,
        from_block: Number(slot),
        head_at: heads.sort()[0] ?? '',
        // An estimate: a blockhash is valid for 150 blocks of 0.4 seconds, and the block height is decisive.
        expires_at: new Date(now.getTime() + MAX_VALIDITY_SECONDS * 1000).toISOString(),
        expires_block: Number(lifetime.lastValidBlockHeight),
      };
    },
    async sign({ nonce, pay_to, amount }, requirement) {
      const lifetime = lifetimes.get(nonce);
      if (!lifetime) throw new Error('a payment is signed where it was identified');
      lifetimes.delete(nonce);
      const { transaction, signature } = await signTransfer({
        chain,
        signer,
        payTo: pay_to,
        amount,
        feePayer: getFeePayer(chain, requirement, signer.address),
        memo: nonce,
        lifetime,
      });
      return { payload: { transaction }, signature };
    },
  };
}

/** Returns the fee payer that the seller names. It is never our own wallet, because our caps do not cover fees. */
function getFeePayer({ key, label }: SvmNetwork, { raw }: Requirement, payer: string): string {
  const named = isObject(raw.extra) ? parsePayTo(key, raw.extra.feePayer) : undefined;
  if (named === undefined || named === payer) {
    throw new ServiceError('refused', `The offer on ${label} names no other fee payer.`, {
      hint: 'The seller must name its fee payer in extra.feePayer.',
      reason: 'no_fee_payer',
    });
  }
  // An address off the curve has no key and cannot sign.
  if (isOffCurveAddress(address(named))) throw refuseFeePayer(label, named);
  return named;
}

/** Builds the transaction without signing it, so that an impossible offer is refused before anything is recorded. */
async function checkTransfer(transfer: Transfer): Promise<void> {
  try {
    compileTransaction(await buildTransfer(transfer));
  } catch (error) {
    throw refuseFeePayer(transfer.chain.label, transfer.feePayer, error);
  }
}

function refuseFeePayer(label: string, feePayer: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'refused',
    `The offer on ${label} gives no valid payment with ${feePayer} as the fee payer.`,
    {
      hint: 'A fee payer is a wallet that can sign, not a program or a token account.',
      reason: 'bad_fee_payer',
      cause,
    },
  );
}

/** Returns the memo that the seller demands, if any. Then only our signature identifies the payment. */
function getMemo({ label }: SvmNetwork, { raw }: Requirement): string | undefined {
  const memo = isObject(raw.extra) ? raw.extra.memo : undefined;
  if (memo === undefined || memo === null || memo === '') return undefined;
  const problem = findMemoProblem(memo);
  if (typeof memo === 'string' && problem === null) return memo;
  throw new ServiceError('refused', `The offer on ${label} asks for a memo that ${problem}.`, {
    hint: 'Nothing was recorded or sent.',
    reason: 'bad_memo',
  });
}

/** Finds the fault of a memo; null for a valid one. Only a text that every reader decodes the same way is signed. */
function findMemoProblem(memo: unknown): string | null {
  if (typeof memo !== 'string') return 'is no text';
  if (!memo.isWellFormed()) return 'is not valid Unicode';
  if (/[\p{Cc}\ufeff]/u.test(memo)) return 'has control characters or a byte order mark';
  return Buffer.byteLength(memo) > MAX_MEMO_BYTES ? 'is too long' : null;
}

async function openSigner({ label }: SvmNetwork, privateKey: string): Promise<KeyPairSigner> {
  try {
    const text = privateKey.trim();
    const bytes = text.startsWith('[') ? Uint8Array.from(JSON.parse(text)) : getBase58Encoder().encode(text);
    return await (bytes.length === 32
      ? createKeyPairSignerFromPrivateKeyBytes(bytes)
      : createKeyPairSignerFromBytes(bytes));
  } catch {
    // The library's error is dropped, because it might show the key.
    throw new ServiceError('bad_input', `The key of the wallet on ${label} is not a private key.`, {
      hint: 'PAYER_SOLANA_PRIVATE_KEY, or the file that PAYER_SOLANA_KEY_FILE names, holds it in base 58 or as a JSON array.',
      reason: 'bad_key',
    });
  }
}
