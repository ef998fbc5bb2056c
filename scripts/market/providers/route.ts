import { z } from 'zod';
import type { JsonObject } from '../../../src/model/json.ts';
import { jsonObject } from '../../../src/model/json-object.ts';

/** Result of a call: the product, or the fault of the request. */
export type Outcome = { product: JsonObject } | { problem: string };

/** One route that a provider sells. */
export interface PayableRoute {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  /** Price of one request in atomic USDC. */
  price: number;
  /** JSON Schemas of the query (GET) or the body (POST), and of the answer. */
  inputSchema: JsonObject;
  outputSchema: JsonObject;
  exampleInput: JsonObject;
  /** Answers a query or a body. */
  answer(raw: unknown): Outcome;
}

/** The networks of the market, each of which has a local chain. */
export type MarketNetwork = 'base' | 'solana';

/** One seller: its name, its way to be paid, and its routes. */
export interface ProviderPlan {
  key: string;
  title: string;
  summary: string;
  version: 1 | 2;
  networks: readonly MarketNetwork[];
  /** Checks a request before it asks for a payment, and answers a bad one with 400. */
  checksInputFirst?: boolean;
  /** Settles the payment before it does the work, and keeps the money even if the work fails. */
  settlesFirst?: boolean;
  routes: readonly PayableRoute[];
}

interface Sale<Input extends z.ZodObject, Output extends z.ZodObject> {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  price: number;
  input: Input;
  output: Output;
  example: z.input<Input>;
  work(input: z.output<Input>): z.output<Output>;
}

/** Builds a route from a function and the schemas of its input and output. Input is checked by its schema. */
export function buildRoute<Input extends z.ZodObject, Output extends z.ZodObject>({
  input,
  output,
  example,
  work,
  ...facts
}: Sale<Input, Output>): PayableRoute {
  return {
    ...facts,
    inputSchema: buildSchema(input),
    outputSchema: buildSchema(output),
    exampleInput: jsonObject.parse(example),
    answer(raw) {
      const parsed = input.safeParse(raw);
      if (parsed.success) return { product: jsonObject.parse(work(parsed.data)) };
      const [issue] = parsed.error.issues;
      return { problem: `${issue?.path.join('.') || 'The request'}: ${issue?.message}` };
    },
  };
}

function buildSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return jsonObject.parse(rest);
}
