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
    /** Says whether to cache the document; what is read faster than it is cached is not. */
    readonly isCached?: (params: Readonly<Record<string, string>>) => boolean;
  },
) => void;

/** The query of a route that takes no parameters. */
export const NO_QUERY = z.strictObject({});
