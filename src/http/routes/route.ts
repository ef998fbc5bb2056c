import { z } from 'zod';
import type { Snapshot } from '../../published/snapshot.ts';
import type { Document } from '../document.ts';

/**
 * Adds a route that answers GET with a document: its path, the schema that checks its query (and from which the OpenAPI
 * document describes it), and what builds the document while the published catalogue stays at the revision of the
 * snapshot; it throws a `ServiceError` where there is no such document.
 */
export type Get = <Query>(
  path: string,
  query: z.ZodObject & z.ZodType<Query>,
  build: (query: Query, params: Readonly<Record<string, string>>, snapshot: Snapshot) => Document,
  options?: {
    /** Of the paths that fit `path` those alone that this fits, too; what its groups name is among the parameters. */
    readonly only?: RegExp;
    /**
     * Finds the document where the file holds it ready to send, by a single read: to hold a revision or to cache it would
     * take longer. Where this finds nothing, `build` says why.
     */
    readonly find?: (params: Readonly<Record<string, string>>) => Document | undefined;
  },
) => void;

/** The query of a route that takes no parameters. */
export const NO_QUERY = z.strictObject({});
