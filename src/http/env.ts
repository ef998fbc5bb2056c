import type { HttpBindings } from '@hono/node-server';
import type { RequestIdVariables } from 'hono/request-id';

/** What a request carries through the app. Mounted in pages there is no socket, and so no client to count. */
export interface Env {
  Bindings: Partial<HttpBindings>;
  Variables: RequestIdVariables;
}
