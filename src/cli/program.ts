import { CommanderError, Command as Parser } from 'commander';
import { cutText } from '../model/text.ts';
import type { Command } from './command.ts';
import { buildUsageFailure } from './failure.ts';
import { getVersion } from './version.ts';

/** The parsed command line: a command with checked arguments and options, or text to print (help or version). */
export type Request =
  | { kind: 'run'; command: Command; input: unknown; json: boolean }
  | { kind: 'help' | 'version'; text: string };

/** Longest part of a command-line word that a message quotes, in UTF-16 units. */
const QUOTE_LENGTH = 60;

const PROGRAM = 'catalogue';
const INVOCATION = `npm run ${PROGRAM} --`;

const ABOUT = 'Commands for the operator of the catalogue: what goes into it, what is in it, and why.';
const CLOSING = `Exit codes: 0 done, 1 done in part or failed, 2 wrong usage.
For programs: npm run --silent catalogue -- <command> --json, since npm writes to standard output otherwise.
Settings come from the environment, such as CATALOGUE for the file; .env.example lists all of them.`;

/**
 * Parses a command line (without program name). Help is as wide as `columns`. Throws `bad_input` with the reason
 * `usage` for invalid input, with the nearest command or option as a hint.
 */
export function parseCommandLine(
  commands: Readonly<Record<string, Command>>,
  args: readonly string[],
  columns = 80,
): Request {
  let request: Request | undefined;
  let help = '';
  if (args.includes('--version') || args.includes('-V')) return { kind: 'version', text: `${getVersion()}\n` };
  const program = buildProgram(columns, (text) => {
    help += text;
  });
  for (const [name, command] of Object.entries(commands)) {
    const parser = addCommand(program, name, command);
    parser.action(() => {
      const named = parser.registeredArguments.map((argument, i) => [argument.name(), parser.processedArgs[i]]);
      const { json = false, ...options } = parser.optsWithGlobals();
      const input = checkInput(parser, command, { ...options, ...Object.fromEntries(named) });
      request = { kind: 'run', command, input, json: json === true };
    });
  }
  try {
    program.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code !== 'commander.helpDisplayed') throw buildFailure(error, args);
  }
  return request ?? { kind: 'help', text: help };
}

function buildProgram(columns: number, writeOut: (text: string) => void): Parser {
  return new Parser(PROGRAM)
    .usage('<command> [options]')
    .description(ABOUT)
    .option('--json', 'write one JSON document to standard output, and nothing else')
    .option('-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help, of one command after its name')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut,
      writeErr: () => undefined,
      getOutHelpWidth: () => columns,
      getOutHasColors: () => false,
    })
    .addHelpText('after', `\n${CLOSING}`)
    .exitOverride();
}

function addCommand(program: Parser, name: string, command: Command): Parser {
  const parser = program.command(name).summary(command.summary).description(describe(command)).exitOverride();
  for (const [flags, description] of command.arguments ?? []) parser.argument(flags, description);
  for (const [flags, description] of command.options ?? []) parser.option(flags, description);
  const examples = command.examples.map(([line, meaning]) => `  # ${meaning}\n  ${INVOCATION} ${line}\n`);
  return parser.addHelpText('after', `\nExamples:\n${examples.join('')}`);
}

function describe({ summary, details }: Command): string {
  return details ? `${summary}.\n\n${details}` : `${summary}.`;
}

function checkInput(parser: Parser, command: Command, raw: Record<string, unknown>): unknown {
  const checked = command.input.safeParse(raw);
  if (checked.success) return raw;
  const [issue] = checked.error.issues;
  const name = String(issue?.path[0] ?? '');
  const option = parser.options.find((candidate) => candidate.attributeName() === name);
  const given = raw[name];
  const subject = option ? `The option ${option.long}` : `The argument <${name}>`;
  const takes = issue?.message ?? 'another value';
  const complaint =
    given === undefined
      ? `${subject} is missing; it takes ${takes}.`
      : `${subject} cannot be "${cutText(String(given), QUOTE_LENGTH)}"; it takes ${takes}.`;
  const message = issue?.path.length === 0 ? issue.message : complaint;
  throw buildUsageFailure(message, `${INVOCATION} ${parser.name()} --help shows how it is used.`);
}

/** Builds our failure from commander's error, whose second line, if any, names the nearest command or option. */
function buildFailure(error: CommanderError, args: readonly string[]): Error {
  if (error.code === 'commander.help') {
    return buildUsageFailure('No command was given.', `${INVOCATION} --help lists the commands.`);
  }
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const complaint = first.replace(/[^\s'"]+/g, (word) => cutText(word, QUOTE_LENGTH));
  const [command] = args.filter((argument) => !argument.startsWith('-'));
  const isKnown = command !== undefined && error.code !== 'commander.unknownCommand' && command.length <= QUOTE_LENGTH;
  const help = `${INVOCATION} ${isKnown ? `${command} ` : ''}--help shows what there is.`;
  const sentence = `${complaint.charAt(0).toUpperCase()}${complaint.slice(1).replace(/\.$/, '')}.`;
  return buildUsageFailure(sentence, suggestion ? `${suggestion.replace(/^\(|\)$/g, '')} ${help}` : help);
}
