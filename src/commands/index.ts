import { backup } from './backup.ts';
import { check } from './check.ts';
import type { Command } from './command.ts';
import { correct } from './correct.ts';
import { delist, relist } from './delist.ts';
import { exportCatalogue } from './export.ts';
import { importSources } from './import.ts';
import { list } from './list.ts';
import { probe } from './probe.ts';
import { receipts } from './receipts.ts';
import { show } from './show.ts';
import { status } from './status.ts';
import { verify } from './verify.ts';
import { why } from './why.ts';

/** Every command, in the order in which help lists them. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  import: importSources,
  list,
  show,
  why,
  probe,
  verify,
  receipts,
  correct,
  delist,
  relist,
  status,
  check,
  export: exportCatalogue,
  backup,
};
