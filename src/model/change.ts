import { z } from 'zod';
import { jsonObject } from './json-object.ts';

export const CHANGE_KINDS = [
  'listed',
  'described',
  'priced',
  'routed',
  'networked',
  'categorised',
  'verified',
  'unverified',
  'cautioned',
  'cleared',
  'corrected',
  'replied',
  'scored',
  'seen',
  'held',
  'delisted',
  'relisted',
] as const;
const changeKind = z.enum(CHANGE_KINDS);
export type ChangeKind = z.infer<typeof changeKind>;

/** One reader-visible decision about one listing: what changed, why (a stable code) and on what evidence. */
export const change = z
  .object({
    revision: z.int().positive(),
    at: z.iso.datetime(),
    slug: z.string(),
    listing_id: z.uuid(),
    kind: changeKind,
    reason: z.string(),
    detail: jsonObject,
  })
  .meta({ id: 'Change' });
export type Change = z.infer<typeof change>;
