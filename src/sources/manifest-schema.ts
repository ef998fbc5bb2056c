import { z } from 'zod';
import { category } from '../model/catalogue.ts';
import { slug } from '../model/listing.ts';
import { FAMILY_WORDS, NETWORKS, type NetworkKey, networkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { formatUsdc } from '../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../x402/offer-fields.ts';

/** A decimal amount above zero, with at most six decimals. */
const PRICE = /^(?=.*[1-9])\d{1,10}(\.\d{1,6})?$/;

/** The values that a price takes, in words. */
export const PRICE_WORDS = `a decimal amount of USDC above zero, at most ${formatUsdc(MAX_PLAUSIBLE_AMOUNT)}, with at most six decimals, such as "0.01"`;

const text = (description: string) => z.string().min(1, 'some text').describe(description);
const address = (description: string) => z.string().describe(description).meta({ format: 'uri' });

// Prices are read from the source text, so that `0.10` and `"0.10"` are equal and no decimal is lost.
const amount = z
  .string()
  .regex(PRICE, PRICE_WORDS)
  .meta({ type: ['string', 'number'], exclusiveMinimum: 0 });

const priceRange = z.strictObject({ min: amount, max: amount });

const networks = z
  .array(networkKey)
  .min(1, 'at least one network')
  .refine((keys) => new Set(keys).size === keys.length, 'each network once')
  .meta({ uniqueItems: true });

const anyJson = z.record(z.string(), z.unknown());

const example = z.strictObject({
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
});

const payTo = z.strictObject(
  Object.fromEntries(
    Object.values(NETWORKS).map(({ key, label, family }) => [
      key,
      z.string().optional().describe(`Account on ${label}: ${FAMILY_WORDS[family].account}`),
    ]),
  ) as Record<NetworkKey, z.ZodOptional<z.ZodString>>,
);

const manifestRoute = z.strictObject({
  method: httpMethod,
  path: z
    .string()
    .regex(
      /^\/[^\s#\\]{0,1000}(#[\w./-]{1,128})?$/,
      'a path that begins with / and holds no white space or backslash, and # only before the name of a tool at its end',
    )
    .describe(
      'Path after base_url; :name and {name} stay templates, a fixed query may follow. A tool of an MCP server is POST, the path of the server, # and the name',
    ),
  description: text('What the route does').optional(),
  price_usdc: amount.describe('Price of one request').optional(),
  networks: networks.describe("Default: the listing's networks, else base").optional(),
  pay_to: payTo.describe('Who is paid, for each network').optional(),
  mime_type: z.string().optional().describe('Media type of the answer'),
  input_schema: anyJson.optional().describe('JSON Schema with a property for each part: queryParams, body, headers'),
  output_schema: anyJson.optional().describe('JSON Schema of the answer'),
  example: example.describe('A request that works; no secrets, no payment').optional(),
});
export type ManifestRoute = z.infer<typeof manifestRoute>;

/** One listing as a YAML file states it. */
export const manifest = z.strictObject({
  name: text('Title of the listing'),
  base_url: address('Address that the paths of the routes follow'),
  tagline: text('What it is, in one line'),
  provider: text('Display name of the provider; default: the name').optional(),
  slug: slug.describe('Name in addresses of the catalogue; default: made from the name').optional(),
  description: text('Longer text; blank lines separate paragraphs').optional(),
  category: category.describe('Default: inferred from the text').optional(),
  mcp_endpoint: address("The provider's own MCP server").optional(),
  docs_url: address("The provider's documentation").optional(),
  price_usdc: z
    .union([amount, priceRange])
    .optional()
    .describe('Price of one request, or its range; only for a listing without itemised routes'),
  networks: networks.describe('Networks that are paid on: with price_usdc, and the default of every route').optional(),
  observed: z
    .strictObject({
      source: text('Where these facts were seen'),
      at: z
        .union([z.iso.date(), z.iso.datetime({ offset: true })], 'a date such as 2026-03-17, or a time with its zone')
        .describe('When they were seen'),
    })
    .optional()
    .describe('Dated evidence; without it the manifest is a bare claim'),
  routes: z.array(manifestRoute).optional().describe('What can be called'),
});
export type Manifest = z.infer<typeof manifest>;

/** The mappings of a manifest: their names in messages, and their schemas. */
const MAPPINGS = {
  manifest: { label: 'a manifest', schema: manifest },
  routes: { label: 'a route', schema: manifestRoute },
  example: { label: 'an example', schema: example },
  pay_to: { label: 'pay_to', schema: payTo },
  price_usdc: { label: 'a price range', schema: priceRange },
  observed: { label: 'observed', schema: manifest.shape.observed.unwrap() },
} as const;

/** Returns the name and the fields of the mapping at a path of a manifest. */
export function getMapping(path: readonly PropertyKey[]): { label: string; fields: string[] } {
  const key = path.findLast((step) => typeof step === 'string') ?? 'manifest';
  const { label, schema } = Object.entries(MAPPINGS).find(([name]) => name === key)?.[1] ?? MAPPINGS.manifest;
  return { label, fields: Object.keys(schema.shape) };
}

/** Builds the JSON Schema (2020-12) of a manifest, with which editors check and complete the files. */
export function buildManifestJsonSchema(): object {
  return buildJsonSchema(manifest, {
    title: 'Listing manifest',
    description: 'One API that agents pay for per request in USDC: facts only.',
  });
}

/** Builds the JSON Schema (2020-12) of an input format. */
export function buildJsonSchema(type: z.ZodType, words: { title: string; description: string }): object {
  const schema = z.toJSONSchema(type, { target: 'draft-2020-12', io: 'input' });
  return { $schema: schema.$schema, ...words, ...schema };
}
