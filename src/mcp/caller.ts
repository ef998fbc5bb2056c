import type { CallToolResult } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { Tool } from './tool.ts';

/** Calls a tool; a failure is an answer, too. */
export type CallTool = (tool: Tool, args: unknown) => CallToolResult;

/**
 * Builds the one place where tools are called. A call takes one snapshot and reads the catalogue within one transaction,
 * so that all it says is of one revision. What the caller can mend is told in words; what was not thrown on purpose is
 * reported to `onError` and told without its text.
 */
export function buildCaller(reading: Reading, onError?: (error: unknown) => void): CallTool {
  const answerAtOnce = reading.catalogue.sqlite.transaction((tool: Tool, args: unknown) =>
    tool.answer(args, { reading, snapshot: reading.getSnapshot() }),
  );
  return (tool, args) => {
    try {
      return buildResult(answerAtOnce(tool, args));
    } catch (error) {
      if (error instanceof ServiceError) return buildError([error.message, error.hint].filter(Boolean).join(' '));
      onError?.(error);
      return buildError('Something went wrong on our side. Try again in a moment.');
    }
  };
}

/** Answers twice: as structured content, and as the same JSON in text for clients that read only that. */
function buildResult(answer: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

function buildError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
