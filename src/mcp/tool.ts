import type { z } from 'zod';
import type { Reading } from '../published/reading.ts';
import type { Snapshot } from '../published/snapshot.ts';
import { parseArguments } from './arguments.ts';

/** Data that a tool answers from: a snapshot, and the published catalogue, which keeps its revision meanwhile. */
export interface ToolContext {
  readonly reading: Reading;
  readonly snapshot: Snapshot;
}

/** Definition of a tool, with the types of its arguments and of its answer. */
interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  title: string;
  /** Shown to every model that sees the tool list: the service's own words only, never a provider's. */
  description: string;
  input: Input;
  /** The words of the tool list about arguments, in place of those in `input`, where names say nearly enough. */
  words?: { readonly [Name in keyof Input['shape']]?: string };
  /** Fields that may be missing are optional, never nullable: strict clients trip over null. */
  output: Output;
  /** Answers, or throws ServiceError for what the caller can mend. */
  answer(args: z.output<Input>, context: ToolContext): z.input<Output>;
}

/** A tool whose arguments are still unchecked, so that one record holds tools of all types. */
export interface Tool {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly words?: Readonly<Record<string, string | undefined>>;
  readonly output: z.ZodObject;
  /** Checks the arguments and answers. Throws ServiceError. */
  readonly answer: (args: unknown, context: ToolContext) => Record<string, unknown>;
}

/** A tool that asks others than this catalogue. */
export interface OutsideTool extends Omit<Tool, 'answer'> {
  /** Checks the arguments and answers. Throws ServiceError. */
  readonly ask: (args: unknown) => Promise<Record<string, unknown>>;
}

/** Builds a tool from its definition. */
export function buildTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { title, description, input, words, output } = definition;
  return {
    title,
    description,
    input,
    ...(words && { words }),
    output,
    answer: (args, context) => definition.answer(parseArguments(input, args), context),
  };
}
