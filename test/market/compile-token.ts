import { readFileSync } from 'node:fs';
import solc from 'solc';
import { z } from 'zod';
import { ServiceError } from '../../src/errors.ts';

/** The parts of the compiler's answer that are used (Solidity documentation, "Compiler Input and Output JSON Description"). */
const compiled = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z.record(
    z.string(),
    z.record(z.string(), z.object({ evm: z.object({ deployedBytecode: z.object({ object: z.string() }) }) })),
  ),
});

/** The contracts of the local chain: the file of each, and where its code is kept. */
export const CONTRACTS = [
  ['LocalUsdc', 'LocalUsdc.sol', 'local-usdc.hex'],
  ['LocalPermit2', 'LocalPermit2.sol', 'local-permit2.hex'],
  ['LocalUptoProxy', 'LocalPermit2.sol', 'local-upto-proxy.hex'],
] as const;

/**
 * Compiles a contract and gives the code that stands at its address, as hex. The same compiler gives the same code:
 * nothing of paths or time goes into it. `change` changes the source first. Throws `bad_input` with the compiler's words
 * where the source is wrong.
 */
export function compileContract(
  name: string,
  file: string,
  change: (source: string) => string = (source) => source,
): `0x${string}` {
  const source = change(readFileSync(new URL(`../../scripts/market/token/${file}`, import.meta.url), 'utf8'));
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: source } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
  const { errors = [], contracts } = compiled.parse(JSON.parse(solc.compile(JSON.stringify(input))));
  const code = contracts[file]?.[name]?.evm.deployedBytecode.object;
  if (errors.length > 0 || !code) {
    throw new ServiceError('bad_input', errors[0]?.formattedMessage ?? 'The compiler gave no code.');
  }
  return `0x${code}`;
}
