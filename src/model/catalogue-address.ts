import { ServiceError } from '../errors.ts';

/** Returns true if an address is that of a PostgreSQL database, and not a file. */
export function isPostgresAddress(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address);
}

/** Parameters of an address that contain a secret. */
const SECRETS = ['password', 'sslpassword'];

/** Returns an address without its password, for messages. */
export function formatAddress(address: string): string {
  if (!isPostgresAddress(address)) return address;
  // An address that cannot be parsed may hold a password anywhere.
  if (!URL.canParse(address)) return 'postgres://…';
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  for (const name of SECRETS) if (url.searchParams.has(name)) url.searchParams.set(name, '***');
  return url.href;
}

/** SQLSTATE of a server that accepts no writes, such as a replica. */
const READ_ONLY = '25006';

/**
 * Errors of the connection, and of a server that refuses logins, is stopping, has no room or takes too long: classes 08, 28, 3D,
 * 53 and 57, and some of 25 and 55.
 */
const AWAY =
  /^(08...|28...|3D000|53...|57...|55P03|25P03|25006|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/** Returns true if PostgreSQL could not be reached, so that a later try may succeed. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && AWAY.test(String(error.code))) return true;
  return /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/i.test(
    error.message,
  );
}

/**
 * Builds the error for a PostgreSQL server that cannot be reached, or accepts no writes. Without an address the message says
 * PostgreSQL.
 */
export function buildAwayError(address: string | undefined, error: unknown): ServiceError {
  const name = address === undefined ? 'PostgreSQL' : `The catalogue at ${formatAddress(address)}`;
  const why = error instanceof Error && error.message !== '' ? error.message : 'no answer';
  const isReadOnly = error instanceof Error && 'code' in error && error.code === READ_ONLY;
  return new ServiceError('unavailable', `${name} ${isReadOnly ? 'takes no writes' : 'cannot be reached'}: ${why}.`, {
    hint: isReadOnly
      ? 'Set CATALOGUE to the server that takes writes, or promote this one, and run the command again: what was recorded is kept.'
      : 'Check that PostgreSQL runs there, has room, and lets this user into this database from here, and run the command again: what was recorded is kept.',
    reason: 'catalogue_away',
    cause: error,
  });
}
