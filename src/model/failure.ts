import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import { buildAwayError, isAway } from './catalogue-address.ts';
import { cutText } from './text.ts';

/** Longest message or hint that is shown, in UTF-16 units. Some quote paths, addresses or errors of others. */
const SHOWN_LENGTH = 500;

type Meaning = readonly [code: ErrorCode, message: string, hint: string];

const DISK_FULL: Meaning = [
  'unavailable',
  'The disk is full',
  'Make room and run the command again: what was recorded is kept.',
];
const DAMAGED: Meaning = [
  'internal',
  'The catalogue is damaged',
  'Restore a backup; "catalogue restore --help" says how.',
];
const FORBIDDEN: Meaning = ['refused', 'No permission to use a file or folder', 'Check its owner and its permissions.'];

/** Messages and hints for error codes of the system and the database. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  SQLITE_BUSY: ['conflict', 'Another process is writing to the catalogue', 'Wait until it is done and try again.'],
  SQLITE_FULL: DISK_FULL,
  SQLITE_READONLY: [
    'refused',
    'No permission to write to the catalogue',
    'Check the permissions of the file and its folder.',
  ],
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  ENOSPC: DISK_FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: ['refused', 'The file system is read-only', 'Choose a place that is writable.'],
  ENOENT: ['not_found', 'A file or folder does not exist', 'Check the path.'],
  EISDIR: ['bad_input', 'There is a folder where a file is expected', 'Check the path.'],
  ENOTDIR: ['bad_input', 'There is a file where a folder is expected', 'Check the path.'],
};

/** Returns the error to show for any thrown value, with message and hint cut to a readable length. */
export function getFailure(error: unknown): ServiceError {
  const { code, message, hint, reason, details, cause } = getWholeFailure(error);
  return new ServiceError(code, cutText(message, SHOWN_LENGTH), {
    reason,
    details,
    cause,
    ...(hint !== undefined && { hint: cutText(hint, SHOWN_LENGTH) }),
  });
}

function getWholeFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = getMember(error, 'code') ?? '';
  // An extended code of SQLite (SQLITE_BUSY_SNAPSHOT) has the meaning of its plain code.
  const meaning = MEANINGS[code] ?? MEANINGS[code.split('_').slice(0, 2).join('_')];
  if (meaning) {
    const [kind, message, hint] = meaning;
    const path = getMember(error, 'path');
    return new ServiceError(kind, `${message}${path ? `: ${path}` : ''}.`, {
      hint,
      reason: code.toLowerCase(),
      cause: error,
    });
  }
  if (isAway(error)) return buildAwayError(undefined, error);
  const message = getErrorMessage(error).replace(/\.$/, '');
  return new ServiceError('internal', `An unexpected failure: ${message}.`, {
    hint: 'This is a fault of the program; NODE_DEBUG=catalogue shows where it happened.',
    cause: error,
  });
}

function getMember(error: unknown, name: string): string | undefined {
  return error instanceof Error && name in error
    ? String(Object.entries(error).find(([key]) => key === name)?.[1] ?? '')
    : undefined;
}
