import type { JsonObject } from '../../model/json.ts';
import type { RequestExample } from '../../model/request.ts';
import { TOOL_NAME } from '../../model/route.ts';
import type { Note } from '../finding-codes.ts';
import { normaliseSchema } from '../json-schema.ts';
import { cleanJson, isObject } from '../json-value.ts';
import { buildRequestExample } from '../request-example.ts';
import { findMember, listInputs } from './item-fields.ts';

/** The tool of an MCP server, as an item of a feed describes it. */
export interface FeedTool {
  name: string;
  /** The description of the tool in the item, from `info.input` of its Bazaar declaration. */
  input: Record<string, unknown>;
}

/**
 * Finds the MCP tool that an item describes (x402, extension `bazaar`, `info.input` of type `mcp`). Undefined for items of
 * other types, for names that MCP does not allow, and for transports other than Streamable HTTP.
 */
export function findFeedTool(item: unknown): FeedTool | undefined {
  const input = listInputs(item).find(({ type }) => type === 'mcp');
  const name = findMember(input, 'toolName');
  const transport = findMember(input, 'transport') ?? 'streamable-http';
  if (!input || typeof name !== 'string' || !TOOL_NAME.test(name) || transport !== 'streamable-http') return undefined;
  return { name, input };
}

/**
 * Reads the arguments of a tool as the body of its route: their schema, and the example. A tool that takes no arguments
 * has the empty object as its example.
 */
export function readToolRequest(
  { input }: FeedTool,
  note: Note,
): { input_schema: JsonObject | null; example: RequestExample | null } {
  const schema = isObject(input.inputSchema) ? cleanJson(input.inputSchema) : undefined;
  if (isObject(input.inputSchema) && !isObject(schema)) note('schema_too_large');
  const body = isObject(schema) ? normaliseSchema(schema) : null;
  const isEmpty = body !== null && Object.keys(isObject(body.properties) ? body.properties : {}).length === 0;
  const example = isObject(input.example) ? input.example : isEmpty ? {} : undefined;
  const whole = body === null ? null : cleanJson({ type: 'object', properties: { body } });
  return {
    input_schema: isObject(whole) ? whole : null,
    example: buildRequestExample({ body: example }, 'POST', note),
  };
}
