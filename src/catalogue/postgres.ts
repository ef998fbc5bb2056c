import pg from 'pg';

/** How long to wait for a connection, or for the lock of another process, in milliseconds. */
const WAIT_MS = 10_000;

/** How long one statement may take, in milliseconds. */
const STATEMENT_MS = 120_000;

const INT8 = 20;
const NUMERIC = 1700;

/** Returns how connections are made to the PostgreSQL database of a catalogue. */
export function buildConnection(address: string): pg.PoolConfig {
  return {
    connectionString: address,
    application_name: 'agent-payable-apis',
    // A payment that is recorded is on the disk, whatever the database is set to.
    options: '-c synchronous_commit=on',
    connectionTimeoutMillis: WAIT_MS,
    lock_timeout: WAIT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + WAIT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    types: {
      // Counts and sums of integers come as texts otherwise; none is larger than what a number holds.
      getTypeParser: ((oid: number, format: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format as 'text')) as never,
    },
  };
}

/** Opens a pool of connections. A connection that is lost while nobody uses it is replaced when the next one is needed. */
export function openPool(address: string, { max }: { max: number }): pg.Pool {
  const pool = new pg.Pool({ ...buildConnection(address), max });
  pool.on('error', () => undefined);
  // Without a listener, one that is lost while it is used would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
