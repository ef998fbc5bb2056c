import pg from 'pg';
import { getErrorMessage } from '../errors.ts';

/** Longest wait for a connection, or for the lock of another process, in milliseconds. */
const WAIT_MS = 10_000;

/** Longest time of one statement, in milliseconds. */
const STATEMENT_MS = 120_000;

/** Most connections of a pool. */
const CONNECTIONS = 8;

const INT8 = 20;
const NUMERIC = 1700;

/** SQLSTATE of a failed connection. */
const NOT_CONNECTED = '08001';

/** A connection whose connection failures have an SQLSTATE too, whatever their cause. */
class CatalogueClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | undefined {
    const connecting = super.connect().catch((error: unknown) => {
      if (error instanceof pg.DatabaseError) throw error;
      throw Object.assign(new Error(getErrorMessage(error), { cause: error }), { code: NOT_CONNECTED });
    });
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(null as never, client as never),
      (error) => callback(error as never, this as never),
    );
    return undefined;
  }
}

/**
 * Opens a pool of connections to a catalogue's PostgreSQL database. With `deadlineMs`, neither connecting nor a statement may take
 * longer, in milliseconds. A connection that is lost while idle is replaced at the next use.
 */
export function openPool(address: string, deadlineMs?: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: address,
    Client: CatalogueClient,
    max: CONNECTIONS,
    application_name: 'agent-payable-apis',
    // A recorded payment must be on the disk, whatever the settings of the database.
    options: '-c synchronous_commit=on',
    connectionTimeoutMillis: deadlineMs ?? WAIT_MS,
    lock_timeout: WAIT_MS,
    statement_timeout: deadlineMs ?? STATEMENT_MS,
    // It is longer than the server's own limit, because the server's error says more. With a deadline, a server that is gone is
    // given up in time.
    query_timeout: deadlineMs ?? STATEMENT_MS + WAIT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    types: {
      // Counts and sums of integers would otherwise be texts. None is too large for a number.
      getTypeParser: ((oid: number, format: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format as 'text')) as never,
    },
  });
  pool.on('error', () => undefined);
  // Without a listener, a connection lost during use would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
