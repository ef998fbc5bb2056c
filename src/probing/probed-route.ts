import type { DeclaredRoute } from '../model/route.ts';

/** What a probe needs to know of a route. */
export interface ProbedRoute extends Pick<DeclaredRoute, 'method' | 'path' | 'example' | 'input_schema'> {
  /** The offers that a buyer would expect now, without history; empty where none is known. */
  terms: DeclaredRoute['terms'];
  /** The seller is known to use a fresh payee for each challenge, so payees are not compared. */
  payeeRotates?: boolean | undefined;
}
