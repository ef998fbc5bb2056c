import type { Command } from './command.ts';

/** Loads each command, in the order in which help lists them. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  import: async () => (await import('./import.ts')).importSources,
  list: async () => (await import('./list.ts')).list,
  show: async () => (await import('./show.ts')).show,
  why: async () => (await import('./why.ts')).why,
  probe: async () => (await import('./probe.ts')).probe,
  submissions: async () => (await import('./submissions.ts')).submissions,
  verify: async () => (await import('./verify.ts')).verify,
  receipts: async () => (await import('./receipts.ts')).receipts,
  correct: async () => (await import('./correct.ts')).correct,
  delist: async () => (await import('./delist.ts')).delist,
  relist: async () => (await import('./delist.ts')).relist,
  status: async () => (await import('./status.ts')).status,
  metrics: async () => (await import('./metrics.ts')).metrics,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportCatalogue,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  copy: async () => (await import('./copy.ts')).copy,
};

/** The names of all commands. */
export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/**
 * Returns the command that a command line names, by its name, or every command if it names none: loading all takes as
 * long as most commands take to run.
 */
export async function loadCommands(args: readonly string[]): Promise<Record<string, Command>> {
  const named = args.find((argument) => !argument.startsWith('-'));
  const names = COMMAND_NAMES.filter((name) => name === named);
  const loaded = (names.length > 0 ? names : COMMAND_NAMES).map(async (name) => [name, await COMMANDS[name]?.()]);
  return Object.fromEntries(await Promise.all(loaded));
}
