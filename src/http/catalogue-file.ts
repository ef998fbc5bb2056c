import { statSync } from 'node:fs';
import type { Logger } from 'pino';

/** How often the file is looked at. */
const LOOK_MS = 500;

/** Watches over the catalogue's file. */
export interface CatalogueFile {
  /** Says whether another file, or none, lies where the one was that this process reads. */
  isReplaced(): boolean;
  close(): void;
}

/**
 * Watches over the file of a catalogue as it was opened. Once another lies in its place, what this process reads is nobody's
 * catalogue any more, which is logged once. It is not opened anew here: SQLite would take the journal that the old file
 * left (`-wal`) for one of the new, so it is the operator who stops, puts the file in place and starts.
 */
export function openCatalogueFile(file: string, logger: Logger): CatalogueFile {
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
