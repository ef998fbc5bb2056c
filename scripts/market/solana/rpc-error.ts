import type { Refusal } from './ledger.ts';

/** An error of the RPC, with its number in Solana's list. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const INVALID_PARAMETERS = -32602;
export const METHOD_NOT_FOUND = -32601;
export const UNSUPPORTED_VERSION = -32015;
export const BLOCK_NOT_AVAILABLE = -32004;

const CODES: Record<Refusal['refused'], number> = {
  malformed: INVALID_PARAMETERS,
  preflight: -32002,
  bad_signature: -32003,
};

/** Builds the error with which a node refuses a transaction. */
export function buildRefusalError({ refused, message, execution }: Refusal): RpcError {
  const data = execution && {
    err: execution.error,
    logs: execution.logs,
    unitsConsumed: Number(execution.unitsConsumed),
    accounts: null,
    returnData: null,
  };
  return new RpcError(CODES[refused], message, data);
}
