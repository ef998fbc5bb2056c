import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { isPostgresAddress } from '../model/catalogue-address.ts';

/** How often the file is looked at. */
const LOOK_MS = 500;

/** Watches over the catalogue's file. */
export interface CatalogueFile {
  /** Says whether another file, or none, lies where the one was that this process reads. */
  isReplaced(): boolean;
  close(): void;
}

/**
 * Watches over the file of the catalogue, which the published one follows. If another file takes its place, this process
 * still follows the old one; that is logged once. It does not open the new file: SQLite would take the journal of the old
 * one (`-wal`) for the journal of the new one. The command restore is refused while a service runs.
 */
export function openCatalogueFile(file: string, logger: Logger): CatalogueFile {
  // A catalogue in PostgreSQL is no file.
  if (isPostgresAddress(file)) return { isReplaced: () => false, close: () => undefined };
  const opened = findFileNumber(file);
  let logged = opened;
  const look = () => {
    const found = findFileNumber(file);
    if (found === logged) return;
    logged = found;
    if (found === opened) logger.info({ file }, 'the catalogue file is back');
    else if (found === undefined)
      logger.warn({ file }, 'the catalogue file is gone; what it held is served until a restart, which is due');
    else
      logger.warn(
        { file },
        'another file lies in the place of the catalogue; the old one is served until a restart, which is due',
      );
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return { isReplaced: () => findFileNumber(file) !== opened, close: () => clearInterval(timer) };
}

function findFileNumber(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
