import { randomBytes } from 'node:crypto';
import { type Blockhash, blockhash, getBase58Decoder } from '@solana/kit';

/** Number of slots for which a transaction may name a block as its recent one (Solana, `MAX_PROCESSING_AGE`). */
const BLOCKHASH_SLOTS = 150n;
const FIRST_SLOT = 1_000n;

export interface Block {
  slot: bigint;
  /** Height of the block, which rises with the slots, because here each slot has a block. */
  height: bigint;
  blockhash: Blockhash;
  /** Seconds since 1970. */
  time: bigint;
}

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** The chain's time: slots follow the clock, and the block of each is made when it is first asked for. */
export interface Slots {
  readonly firstSlot: bigint;
  /** Returns the latest slot of a commitment. */
  getSlot(commitment?: Commitment): bigint;
  getBlock(slot: bigint): Block;
  findBlock(hash: string): Block | undefined;
  /** Returns the last height at which a transaction that names this block is taken. */
  getLastValidHeight(block: Block): bigint;
  /** Returns whether a transaction that names this block as its recent one is taken now. */
  isRecent(hash: string): boolean;
  /** Advances by a number of slots at once. */
  skip(slots: number): void;
}

export interface SlotOptions {
  /** Length of a slot, in milliseconds. */
  slotMs?: number;
  /** Number of slots after which a block is final; 0: at once. */
  finalitySlots?: number;
  /** The clock, in milliseconds since 1970. */
  now?: () => number;
}

export function openSlots({ slotMs = 400, finalitySlots = 0, now = Date.now }: SlotOptions = {}): Slots {
  const began = now();
  const blocks = new Map<bigint, Block>();
  const slotsByHash = new Map<string, bigint>();
  let skipped = 0;
  const getElapsed = () => now() - began + skipped * slotMs;
  const getSlot = (commitment: Commitment = 'confirmed') => {
    const current = FIRST_SLOT + BigInt(Math.floor(getElapsed() / slotMs));
    const behind = commitment === 'finalized' ? current - BigInt(finalitySlots) : current;
    return behind < FIRST_SLOT ? FIRST_SLOT : behind;
  };
  const getBlock = (slot: bigint) => {
    const known = blocks.get(slot);
    if (known) return known;
    // Skipped slots take no time, so that the chain's clock stays that of the machine.
    const time = BigInt(Math.floor((began + (Number(slot - FIRST_SLOT) - skipped) * slotMs) / 1000));
    const block = { slot, height: slot - FIRST_SLOT, blockhash: inventBlockhash(), time };
    blocks.set(slot, block);
    slotsByHash.set(block.blockhash, slot);
    return block;
  };
  const findBlock = (hash: string) => {
    const slot = slotsByHash.get(hash);
    return slot === undefined ? undefined : getBlock(slot);
  };
  const getLastValidHeight = (block: Block) => block.height + BLOCKHASH_SLOTS;
  return {
    firstSlot: FIRST_SLOT,
    getSlot,
    getBlock,
    findBlock,
    getLastValidHeight,
    isRecent(hash) {
      const block = findBlock(hash);
      return block !== undefined && getSlot() - FIRST_SLOT <= getLastValidHeight(block);
    },
    skip(slots) {
      skipped += slots;
    },
  };
}

/** Invents the hash of a block: 32 bytes in base 58. */
function inventBlockhash(): Blockhash {
  return blockhash(getBase58Decoder().decode(randomBytes(32)));
}
