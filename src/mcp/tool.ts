import type { z } from 'zod';
import { parseArguments } from '../model/arguments.ts';
import type { AtRevision } from '../published/reading.ts';

/** Definition of a tool, with the types of its arguments and answer. */
interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  title: string;
  /** Shown to every model that reads the tool list, so it contains only the service's own text. */
  description: string;
  input: Input;
  /** Descriptions of arguments in the tool list that replace those in `input`, where names say nearly enough. */
  words?: { readonly [Name in keyof Input['shape']]?: string };
  /** Fields that may be missing are optional, never nullable, since strict clients fail on null. */
  output: Output;
  /** Returns the answer. Throws `ServiceError` for anything that the caller can correct. */
  answer(args: z.output<Input>, context: AtRevision): z.input<Output>;
}

/** A tool with unchecked arguments, so that one record can hold tools of all types. */
export interface Tool {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly words?: Readonly<Record<string, string | undefined>>;
  readonly output: z.ZodObject;
  /** Checks the arguments and answers. Throws ServiceError. */
  readonly answer: (args: unknown, context: AtRevision) => Record<string, unknown>;
}

/** A tool that makes requests to others than this catalogue. */
export interface OutsideTool extends Omit<Tool, 'answer'> {
  /** Checks the arguments and answers. Throws ServiceError. */
  readonly ask: (args: unknown) => Promise<Record<string, unknown>>;
}

/** Builds a tool from its definition. */
export function buildTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  return {
    ...definition,
    answer: (args, context) => definition.answer(parseArguments(definition.input, args), context),
  };
}
