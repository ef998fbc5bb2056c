import { parseArguments } from '../../model/arguments.ts';
import { checkRequest, type ProviderCheck, providerCheck } from '../../views/provider-check.ts';
import type { OutsideTool } from '../tool.ts';

/** Has an address checked, and returns the report. Throws `ServiceError` for anything that the caller can correct. */
export type CheckProvider = (question: unknown) => Promise<ProviderCheck>;

const input = checkRequest.omit({ resource: true }).required({ url: true });

/** The part of a report that an agent needs to correct an API: the lines that did not pass. */
const output = providerCheck.omit({ asked: true, listings: true, checked_at: true, state: true });

/** Builds the tool that says whether an API can be listed, and how to correct it. */
export function buildCheckProviderTool(check: CheckProvider): OutsideTool {
  return {
    title: 'Check a provider',
    description:
      'For those who build an API: can its routes be paid and listed, and if not, where and what to correct. Takes up to 30 s.',
    input,
    words: { url: 'Host, or https address of a route' },
    output,
    ask: async (args) => {
      const report = await check(parseArguments(input, args));
      return output.parse({ ...report, checks: report.checks.filter(({ passed }) => !passed) });
    },
  };
}
