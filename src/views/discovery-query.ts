import { z } from 'zod';
import { NETWORKS } from '../model/network.ts';
import { REQUEST_MAX_LENGTH } from './listing/query.ts';

/** Resources a page, when the client does not say, and at most: a client that asks for more is given these. */
export const DISCOVERY_LIMITS = {
  list: { default: 100, max: 1000 },
  search: { default: 20, max: 100 },
} as const;

/** The extensions that every resource carries: the protocol's own, and what this catalogue knows. */
export const DISCOVERY_EXTENSIONS = ['bazaar', 'agent-payable'] as const;

const NETWORK_NAMES = Object.values(NETWORKS).flatMap(({ id, key }) => [id, key]);

/** CAIP-2: a namespace, a colon and a reference. */
const CAIP_2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

/**
 * The filters of the facilitators' discovery endpoints (x402 specification, extension `bazaar`, "Optional Discovery
 * Endpoints"), by the names that clients send. A value that is well formed but not met here matches nothing.
 */
const discoveryFilters = z.strictObject({
  type: z.enum(['http', 'mcp']).optional().describe('Kind of resource; all of this catalogue are http'),
  payTo: z
    .string()
    .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, 'an account on Base (0x…) or Solana')
    .optional()
    .describe('Account that is paid'),
  scheme: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, 'the name of an x402 scheme, such as exact')
    .optional()
    .describe('Payment scheme'),
  network: z
    .string()
    .refine(
      (name) => CAIP_2.test(name) || NETWORK_NAMES.includes(name),
      `a CAIP-2 identifier; here are ${NETWORK_NAMES.join(', ')}`,
    )
    .optional()
    .describe('Network that is paid on, as x402 version 2 writes it; base and solana are understood too'),
  extensions: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'the name of one extension, such as bazaar')
    .optional()
    .describe(`Extension that the resource carries; all carry ${DISCOVERY_EXTENSIONS.join(' and ')}`),
});
export type DiscoveryFilters = z.infer<typeof discoveryFilters>;

/** What a client asks of `GET /discovery/resources`. */
export const discoveryListQuery = discoveryFilters.extend({
  limit: z
    .int()
    .min(1)
    .default(DISCOVERY_LIMITS.list.default)
    .describe(`Resources a page, ${DISCOVERY_LIMITS.list.max} at most; pagination.limit says how many were taken`),
  offset: z.int().min(0).default(0).describe('Resources to skip, in an order that is fixed within a revision'),
});

/** What a client asks of `GET /discovery/search`. */
export const discoverySearchQuery = discoveryFilters.extend({
  query: z.string().trim().min(1).max(REQUEST_MAX_LENGTH).describe('What is looked for, in plain words'),
  limit: z
    .int()
    .min(1)
    .default(DISCOVERY_LIMITS.search.default)
    .describe(`Resources a page, ${DISCOVERY_LIMITS.search.max} at most; a page may hold fewer`),
  cursor: z.string().max(600).optional().describe('pagination.cursor of the page before'),
});
export type DiscoverySearchQuery = z.infer<typeof discoverySearchQuery>;
