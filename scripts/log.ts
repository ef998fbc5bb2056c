import pino, { type Level, type Logger } from 'pino';
import { buildLogFields } from '../src/http/request.ts';

/** Most of the log that is kept in memory while it cannot be written, in bytes; more is dropped. */
const KEPT_LOG_BYTES = 1024 * 1024;

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

/**
 * Writes one line about the process for its caller: the sentence `msg` on a terminal, elsewhere JSON in the form of the
 * log.
 */
export function say(stream: Stream, msg: string, fields: Record<string, unknown> = {}, level: Level = 'info'): void {
  const line = { level: pino.levels.values[level], time: Date.now(), ...fields, msg };
  stream.write(`${stream.isTTY ? msg : JSON.stringify(line)}\n`);
}

/** Opens the log of the server, on standard error: sentences on a terminal, JSON lines elsewhere. */
export function openLog(stderr: Stream, level: string): Logger {
  const options = { level, mixin: buildLogFields };
  if (stderr.isTTY) return pino(options, { write: (line: string) => stderr.write(formatLine(line)) });
  const log = pino.destination({ fd: 2, sync: true, maxLength: KEPT_LOG_BYTES });
  // Serving goes on if the log cannot be written, because nobody reads it or a disk is full.
  log.on('error', () => undefined);
  return pino(options, log);
}

/** Fields of every line that are not shown on a terminal. */
const USUAL = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** Formats a line of the log for a terminal: `12:04:31 warn  the rebuild said (text: …)`. */
function formatLine(json: string): string {
  const line = JSON.parse(json);
  const time = new Date(line.time).toTimeString().slice(0, 8);
  const fields = Object.entries(line).filter(([name]) => !USUAL.has(name));
  const said = fields.map(([name, value]) => `${name}: ${formatValue(value)}`).join(', ');
  const level = (pino.levels.labels[line.level] ?? '').padEnd(5);
  return `${time} ${level} ${line.msg ?? ''}${said === '' ? '' : ` (${said})`}\n`;
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Control characters could move the cursor.
  return text.replace(/\p{Cc}+/gu, ' ');
}
