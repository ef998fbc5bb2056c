import { type Config, type PayerConfig, readPayerConfig } from '../config.ts';
import { openGuardedClient } from '../fetching/client.ts';
import type { httpMethod } from '../model/http-method.ts';
import { isPayable } from '../model/outcome.ts';
import type { Terms } from '../model/terms.ts';
import { formatUsdc } from '../model/usdc.ts';
import { probeRoute } from '../probing/probe-route.ts';
import { findStop } from '../settlement/stop-file.ts';
import { formatOutcome } from '../views/outcome-words.ts';
import { getUserAgent } from '../views/user-agent.ts';
import { getFailure } from './failure.ts';
import { openRails } from './rails.ts';

/** One thing that was looked at: what was found, and what to do where it is not well. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  hint?: string;
}

const TIMEOUT_MS = 15_000;

/** Looks at the wallets that are set: the key, the node, what is held, and whether paying is stopped. None set is well. */
export async function checkWallets(): Promise<Check[]> {
  try {
    const payer = readPayerConfig();
    const rails = await openRails(payer);
    const checks = await Promise.all(
      rails.map(async ({ network, payer: account, chain }): Promise<Check> => {
        const name = `wallet on ${network}`;
        try {
          const balance = await chain.getBalance(account);
          const found = `${account} holds ${formatUsdc(balance)} USDC`;
          return balance > 0
            ? { name, ok: true, found }
            : { name, ok: false, found, hint: 'Send it some USDC to pay with.' };
        } catch (error) {
          return { name, ok: false, ...describeFailure(error) };
        }
      }),
    );
    return [...checks, ...listPayerRemarks(payer)];
  } catch (error) {
    return [{ name: 'wallet', ok: false, ...describeFailure(error) }];
  }
}

function listPayerRemarks({ stopFile }: PayerConfig): Check[] {
  const stop = findStop(stopFile);
  return stop === null ? [] : [{ name: 'paying', ok: true, found: `stopped: ${stop} (${stopFile})` }];
}

/** Asks an address for its 402 once, without payment, as a probe would. */
export async function checkAddress(
  { baseUrl, allowPrivateNetworks }: Config,
  url: string,
  { method, now, signal }: { method: (typeof httpMethod.options)[number]; now: () => Date; signal: AbortSignal },
): Promise<Check> {
  const { origin, pathname, search } = new URL(url);
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent({ baseUrl }) });
  try {
    const sample = await probeRoute({
      ...{ client, baseUrl: origin, timeoutMs: TIMEOUT_MS, now, random: Math.random, signal },
      route: { method, path: `${pathname}${search}`, example: null, input_schema: null, terms: [] },
    });
    const name = `${method} ${url}`;
    const ok = isPayable(sample.outcome);
    const words = formatOutcome(sample.outcome, sample.cause);
    const version = sample.x402_version === null ? '' : ` (x402 version ${sample.x402_version})`;
    if (ok) return { name, ok, found: `${words}${version}: ${sample.terms.map(describeOffer).join(' or ')}` };
    return { name, ok, found: `${words}${version}`, hint: 'The page /method says what each outcome means.' };
  } finally {
    await client.close();
  }
}

function describeOffer({ amount, network, pay_to, scheme }: Terms): string {
  return `${formatUsdc(amount)} USDC on ${network} to ${pay_to}, scheme ${scheme}`;
}

function describeFailure(error: unknown): Pick<Check, 'found' | 'hint'> {
  const { message, hint } = getFailure(error);
  return { found: message, ...(hint === undefined ? {} : { hint }) };
}
