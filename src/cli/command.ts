import { z } from 'zod';
import type { Config } from '../config.ts';
import { formatJson } from '../model/json-text.ts';
import { cleanText } from '../sources/provider-text.ts';
import { type Output, openPage, type Page } from './terminal/page.ts';

/** The context of a command, besides its own arguments. */
export interface CommandContext {
  /** Reads the settings; throws as `readConfig` does. */
  getConfig: () => Config;
  /** Output for the report only. */
  stdout: Output;
  /** Output for progress and remarks. */
  stderr: Output;
  now: () => Date;
  /** Aborted by Ctrl-C. The command stops at the next safe point and reports what is done. */
  signal: AbortSignal;
  json: boolean;
}

/** An argument or option and its description: `['<slug>', 'the listing']`, `['--limit <n>', '…']`. */
type FlagDescription = readonly [flags: string, description: string];

/** The reason of the operator for a decision, which its provider or all readers see: one line of plain text. */
export const statedReason = z
  .string('the reason, which others will see')
  .trim()
  .min(1, 'the reason, which others will see')
  .max(300, 'a reason of at most 300 characters')
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, 'one line of plain text');

/** The reason of the operator for a word about a payment, cleaned as the texts of providers are. Readers see it. */
export const because = z
  .string({ error: 'the reason, in words that readers see' })
  .transform((words) => cleanText(words, 'route_description'))
  .refine(({ length }) => length > 0 && length <= 280, 'the reason, in 1 to 280 characters that readers see');

export interface CommandDefinition<Input, Result> {
  /** One line, for the list of commands. */
  summary: string;
  /** Further information in the command's own help. */
  details?: string;
  arguments?: readonly FlagDescription[];
  options?: readonly FlagDescription[];
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Checks arguments and options by name. A refusal is a usage error. */
  input: z.ZodType<Input>;
  /** Does the work. `undefined` means that the output is already written. */
  run: (input: Input, context: CommandContext) => Promise<Result | undefined> | Result | undefined;
  /** Writes the result for a person or a pipe. With `--json` the result itself is written instead. */
  render: (result: Result, page: Page) => void;
  /** Returns false if only a part of the work was done; then the exit code is 1. */
  isDone?: (result: Result) => boolean;
}

/** A command as the command line runs it. `execute` takes checked arguments and returns the exit code. */
export interface Command
  extends Pick<CommandDefinition<unknown, unknown>, 'summary' | 'details' | 'arguments' | 'options' | 'examples'> {
  input: z.ZodType;
  execute: (raw: unknown, context: CommandContext) => Promise<number>;
}

/** Builds a command from its definition. Its types are checked here, so that different commands fit in one record. */
export function defineCommand<Input, Result>(definition: CommandDefinition<Input, Result>): Command {
  const { input, run, render, isDone, ...described } = definition;
  return {
    ...described,
    input,
    execute: async (raw, context) => {
      const result = await run(input.parse(raw), context);
      if (result === undefined) return 0;
      const { stdout } = context;
      if (context.json) {
        stdout.write(`${formatJson(result, 2)}\n`);
      } else {
        const page = openPage(stdout);
        render(result, page);
        stdout.write(page.getText());
      }
      return (isDone?.(result) ?? true) ? 0 : 1;
    },
  };
}
