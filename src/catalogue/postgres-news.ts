import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../errors.ts';
import { buildAwayError, formatAddress, isAway } from '../model/catalogue-address.ts';
import { LATEST_MIGRATION } from './migrations/latest.ts';
import { buildOtherVersion, NEWS_CHANNEL, type NewsQuery, type NewsSource } from './news.ts';
import { buildConnection, openPool } from './postgres.ts';

/** Longest time for connecting, and for one statement, in milliseconds: a server that vanished says nothing at all. */
const DEADLINE_MS = 4000;

/** Wait before listening again, in milliseconds: twice as long after each failure. */
const RETRY_MS = { first: 250, longest: 10_000 };

/** SQLSTATE of a table that is not there. */
const NO_TABLE = '42P01';

/** Opens the PostgreSQL database of a catalogue to be followed. It connects when something is asked, and again when it was away. */
export function openPostgresNews(address: string): NewsSource {
  const pool = openPool(address, { max: 2, deadlineMs: DEADLINE_MS });
  const listening = startListening(address);
  /** Returns what a failure means. The connection that listens may be dead, too, without knowing it: it is made again. */
  const asAway = (error: unknown) => {
    if (!isAway(error)) return error;
    listening.reconnect();
    return buildAwayError(address, error);
  };
  let isChecked = false;
  const check = async (client: pg.PoolClient) => {
    if (isChecked) return;
    const { rows } = await client.query('SELECT max(name) AS latest FROM kysely_migration');
    if (rows[0]?.latest !== LATEST_MIGRATION) throw buildOtherVersion(formatAddress(address));
    isChecked = true;
  };
  return {
    getVersion: () => listening.count(),
    async hold(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw asAway(error);
      });
      let isBroken = false;
      try {
        await check(client);
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        // All listings may be rendered between two questions.
        await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
        const result = await work(async (query) => (await client.query(formatQuery(query))).rows);
        await client.query('ROLLBACK');
        return result;
      } catch (error) {
        isBroken = true;
        if (error instanceof Error && 'code' in error && error.code === NO_TABLE) {
          throw new ServiceError('not_found', `There is no catalogue at ${formatAddress(address)}.`, {
            hint: 'Import something first, or set CATALOGUE to another place.',
            reason: 'no_catalogue',
            cause: error,
          });
        }
        throw asAway(error);
      } finally {
        client.release(isBroken);
      }
    },
    async close() {
      await listening.close();
      await pool.end();
    },
  };
}

/** Writes a query with numbered parameters, as PostgreSQL has them. */
function formatQuery<Row>({ sql, parameters }: NewsQuery<Row>): { name?: string; text: string; values: unknown[] } {
  let number = 0;
  return { text: sql.replaceAll('?', () => `$${++number}`), values: [...parameters] };
}

/** Listens for announcements, on a connection of its own, which is opened again whenever it is lost. */
function startListening(address: string): { count: () => number; reconnect: () => void; close: () => Promise<void> } {
  const closing = new AbortController();
  let dropping = new AbortController();
  let heard = 0;
  const listen = async () => {
    for (let pause: number = RETRY_MS.first; !closing.signal.aborted; pause = Math.min(2 * pause, RETRY_MS.longest)) {
      let client: pg.Client | undefined;
      dropping = new AbortController();
      try {
        client = new pg.Client(buildConnection(address, DEADLINE_MS));
        client.on('notification', () => {
          heard += 1;
        });
        const ended = waitForEnd(client, AbortSignal.any([closing.signal, dropping.signal]));
        await client.connect();
        await client.query(`LISTEN ${NEWS_CHANNEL}`);
        // Changes announced before the connection are read at once.
        heard += 1;
        pause = RETRY_MS.first;
        await ended;
      } catch {
        // The follower asks once a second meanwhile, and that query says why the server cannot be reached.
      }
      // A server that vanished never confirms the end of a connection, so nobody waits for it.
      void client?.end().catch(() => undefined);
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const listened = listen();
  return {
    count: () => heard,
    reconnect: () => dropping.abort(),
    async close() {
      closing.abort();
      await listened;
    },
  };
}

/** Resolves when a connection ends, however it does, or when nobody needs it any more. */
function waitForEnd(client: pg.Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      signal.removeEventListener('abort', finish);
      resolve();
    };
    client.once('end', finish);
    client.on('error', finish);
    signal.addEventListener('abort', finish);
  });
}
