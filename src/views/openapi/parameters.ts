import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { slug } from '../../model/listing.ts';
import { NETWORKS } from '../../model/network.ts';
import { simplifySchema } from './components.ts';
import { EXAMPLE_PAYEE } from './examples/catalogue.ts';

const EXAMPLES: Readonly<Record<string, unknown>> = {
  q: 'convert a pdf to text',
  category: 'Finance',
  network: 'base',
  verified: true,
  band: 'established',
  max_price_usdc: '0.01',
  provider: 'Example Inc',
  updated_since: '2026-11-01',
  sort: 'price',
  since: 41,
  limit: 20,
  query: 'convert a pdf to text',
  type: 'http',
  scheme: 'exact',
  payTo: EXAMPLE_PAYEE,
  extensions: 'bazaar',
  history: 'all',
  offset: 100,
  url: 'https://api.prices.example/v1/price/x',
  method: 'GET',
  asset: NETWORKS.base.usdc,
  pay_to: EXAMPLE_PAYEE,
  amount: '1000',
  price_usdc: '0.001',
  cursor: 'bm90LXJlYWw',
};

/** Builds the query parameters of an endpoint from the very schema that checks them. */
export function buildQueryParameters(query: z.ZodObject): OpenAPIV3_1.ParameterObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as { description?: string };
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description: description ?? name,
      schema: asParameterSchema(schema),
      ...(name in EXAMPLES ? { example: EXAMPLES[name] } : {}),
    };
  });
}

/** The slug of a listing as a path parameter. */
export function buildSlugParameter(): OpenAPIV3_1.ParameterObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(slug);
  return {
    name: 'slug',
    in: 'path',
    required: true,
    description: 'Slug of the listing: the name of its tag',
    schema: asParameterSchema(schema),
    example: 'example-prices',
  };
}

/** The id of a receipt as a path parameter. */
export function buildReceiptParameter(): OpenAPIV3_1.ParameterObject {
  return {
    name: 'id',
    in: 'path',
    required: true,
    description: "Id of the receipt: a verified route's proof.receipt_id",
    schema: { type: 'string', format: 'uuid' },
    example: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  };
}

/** A JSON Schema as openapi-types has parameters carry it: in its 3.0 type, although the document is 3.1. */
function asParameterSchema(schema: object): OpenAPIV3.SchemaObject {
  return schema;
}
