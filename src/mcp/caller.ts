import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
import type { Reading } from '../published/reading.ts';
import type { OutsideTool, Tool, ToolContext } from './tool.ts';

/** Says that a failure is ours, and by which id the operator finds its cause in the log. */
function describeOurFault(requestId: string | undefined): string {
  const words = 'Something went wrong on our side. Try again in a moment.';
  return requestId === undefined ? words : `${words} The operator finds it in the log by the id ${requestId}.`;
}

/** The one place that answers all requests of the protocol. */
export interface Caller {
  /** Calls a tool; a failure is an answer, too. */
  callTool(tool: Tool, args: unknown): CallToolResult;
  /** The same for a tool that asks others. */
  callOutside(tool: OutsideTool, args: unknown): Promise<CallToolResult>;
  /** Says whether the result of a call is a failure that is the service's own fault. */
  isOurFault(result: CallToolResult): boolean;
  /** Answers another request. Throws only ProtocolError: with what the caller can mend, or as a fault of ours. */
  answer<Answer>(work: (context: ToolContext) => Answer): Answer;
  /** The same for what takes long: `work` reads, and what it gives builds the answer bit by bit. */
  answerInPieces<Answer>(work: (context: ToolContext) => () => Promise<Answer>): Promise<Answer>;
}

/** Options of the caller, besides a reading. */
export interface CallerOptions {
  /** Called with failures that are the service's own fault. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Finds the id under which the present request is logged. */
  readonly findRequestId?: (() => string | undefined) | undefined;
}

/**
 * Builds the caller of a reading. An answer is of one revision throughout. A failure that the client can correct is
 * answered in words. Any other one goes to `onError`, and the client does not see its text.
 */
export function buildCaller(reading: Reading, { onError, findRequestId }: CallerOptions = {}): Caller {
  const answerAtOnce = <Answer>(work: (context: ToolContext) => Answer) =>
    reading.readAtOnce((snapshot) => work({ reading, snapshot }));
  const faults = new WeakSet<CallToolResult>();
  const getWords = (error: unknown): string => {
    if (error instanceof ServiceError) return [error.message, error.hint].filter(Boolean).join(' ');
    onError?.(error);
    return describeOurFault(findRequestId?.());
  };
  const buildFailed = (error: unknown): CallToolResult => {
    const failed: CallToolResult = { content: [{ type: 'text', text: getWords(error) }], isError: true };
    if (!(error instanceof ServiceError)) faults.add(failed);
    return failed;
  };
  const asProtocolError = (error: unknown): ProtocolError => {
    if (error instanceof ProtocolError) return error;
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    return new ProtocolError(error instanceof ServiceError ? InvalidParams : InternalError, getWords(error));
  };
  return {
    callTool: (tool, args) => {
      try {
        return buildResult(answerAtOnce((context) => tool.answer(args, context)));
      } catch (error) {
        return buildFailed(error);
      }
    },
    callOutside: (tool, args) => tool.ask(args).then(buildResult, buildFailed),
    isOurFault: (result) => faults.has(result),
    answer: (work) => {
      try {
        return answerAtOnce(work);
      } catch (error) {
        throw asProtocolError(error);
      }
    },
    answerInPieces: async (work) => {
      try {
        return await answerAtOnce(work)();
      } catch (error) {
        throw asProtocolError(error);
      }
    },
  };
}

/** Builds a result that says the same twice (MCP, "Structured Content"): hosts hand on one part to the model, never both. */
function buildResult(answer: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}
