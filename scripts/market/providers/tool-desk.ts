import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../src/model/json.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import { openServer, type Serving } from '../loopback.ts';
import { settlePayment, verifyPayment } from './facilitation.ts';
import { getExtra, MAX_TIMEOUT_SECONDS } from './offers.ts';

const text = { type: 'string', description: 'The text to work on' } as const;

/** One tool that the desk sells. */
interface PaidTool {
  name: string;
  description: string;
  /** Price of one call in atomic USDC; with `getCost` the most that one may cost. */
  price: number;
  /** Returns the actual cost of a call, which is taken in place of the price (scheme `upto`). */
  getCost?(given: Record<string, unknown>): number;
  inputSchema: { type: 'object'; properties: { text: typeof text }; required: string[] };
  example: JsonObject;
  answer(given: Record<string, unknown>): JsonObject;
}

const TOOLS: readonly PaidTool[] = [
  {
    name: 'reverse_text',
    description: 'Writes a text backwards.',
    price: 2_000,
    inputSchema: { type: 'object', properties: { text }, required: ['text'] },
    example: { text: 'stressed' },
    answer: ({ text: given }) => ({ text: [...String(given ?? '')].reverse().join('') }),
  },
  {
    name: 'count_letters',
    description: 'Counts how often each letter is in a text.',
    price: 1_000,
    inputSchema: { type: 'object', properties: { text }, required: ['text'] },
    example: { text: 'banana' },
    answer: ({ text: given }) => ({ letters: countLetters(String(given ?? '')) }),
  },
  {
    name: 'shout_text',
    description: 'Writes a text in capitals, for 10 millionths of a USDC a letter.',
    price: 50_000,
    getCost: ({ text: given }) => Math.min(50_000, Math.max(1, 10 * String(given ?? '').length)),
    inputSchema: { type: 'object', properties: { text }, required: ['text'] },
    example: { text: 'mind the gap' },
    answer: ({ text: given }) => ({ text: String(given ?? '').toUpperCase() }),
  },
];

function countLetters(given: string): Record<string, number> {
  const groups = Map.groupBy(given.toLowerCase().match(/\p{L}/gu) ?? [], (letter) => letter);
  return Object.fromEntries([...groups].map(([letter, all]) => [letter, all.length]));
}

/** The facilitator that settles for the desk, and the payee. */
interface Seller {
  facilitatorUrl: string;
  /** The account that sends the settlements: a payment of the scheme `upto` is signed for it. */
  facilitatorAddress: string;
  payTo: string;
}

/** An MCP server on loopback whose tools are paid for by the call. */
export interface ToolDesk extends Serving {
  /** Address of the MCP endpoint. */
  readonly endpoint: string;
  /** The items of its tools, as a Bazaar feed has them. */
  readonly items: readonly JsonObject[];
}

/** Opens the desk. It is paid on Base, and settles after the work is done. */
export async function openToolDesk(seller: Seller): Promise<ToolDesk> {
  const server = await openServer(async (request) => {
    if (new URL(request.url).pathname !== '/mcp') return Response.json({ error: 'not found' }, { status: 404 });
    const answering = buildServer(new URL(request.url).origin, seller);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await answering.connect(transport);
    return transport.handleRequest(request);
  });
  const endpoint = `${server.url}/mcp`;
  return { ...server, endpoint, items: TOOLS.map((tool) => buildItem(tool, endpoint, seller)) };
}

function buildServer(origin: string, seller: Seller): Server {
  const server = new Server({ name: 'tool-desk', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) return { isError: true, content: [{ type: 'text' as const, text: `There is no tool ${params.name}.` }] };
    const requirement = buildRequirement(tool, seller);
    const payment = params._meta?.['x402/payment'];
    const refuse = (error: string) => askForPayment(tool, { error, requirement, origin });
    if (!isObject(payment)) return refuse('Payment required');
    const { isValid, invalidReason } = await verifyPayment(seller.facilitatorUrl, { payment, requirement });
    if (!isValid) return refuse(invalidReason ?? 'invalid payment');
    const product = tool.answer(params.arguments ?? {});
    const cost = tool.getCost?.(params.arguments ?? {}) ?? tool.price;
    const due = { ...requirement, amount: String(cost) };
    const settled = await settlePayment(seller.facilitatorUrl, { payment, requirement: due });
    if (!settled.success) return refuse(settled.errorReason ?? 'not settled');
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(product) }],
      structuredContent: product,
      _meta: { 'x402/payment-response': settled },
    };
  });
  return server;
}

/** Asks for a payment as the transport of x402 for MCP has it: in the structured content, and as text. */
function askForPayment(
  tool: PaidTool,
  { error, requirement, origin }: { error: string; requirement: JsonObject; origin: string },
) {
  const { name, description } = tool;
  const resource = { url: `${origin}/mcp`, description, mimeType: 'application/json', serviceName: name };
  const asked = { x402Version: 2, error, resource, accepts: [requirement], extensions: describeTool(tool) };
  return { isError: true, structuredContent: asked, content: [{ type: 'text' as const, text: JSON.stringify(asked) }] };
}

function buildRequirement({ price, getCost }: PaidTool, { payTo, facilitatorAddress }: Seller): JsonObject {
  return {
    scheme: getCost ? 'upto' : 'exact',
    network: NETWORKS.base.id,
    asset: NETWORKS.base.usdc,
    amount: String(price),
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { ...getExtra('base', undefined), ...(getCost && { facilitatorAddress }) },
  };
}

/** Describes the input and output of a tool, as its 402 and its item in a feed do. */
function describeTool({ name, description, inputSchema, example, answer }: PaidTool): JsonObject {
  const input = { type: 'mcp', toolName: name, description, transport: 'streamable-http', inputSchema, example };
  return { bazaar: { info: { input, output: { type: 'json', example: answer(example) } } } };
}

function buildItem(tool: PaidTool, endpoint: string, seller: Seller): JsonObject {
  return {
    x402Version: 2,
    type: 'mcp',
    resource: endpoint,
    description: tool.description,
    accepts: [buildRequirement(tool, seller)],
    extensions: describeTool(tool),
    metadata: { serviceName: 'Tool Desk', serviceDescription: 'Small text tools for agents, called over MCP.' },
  };
}
