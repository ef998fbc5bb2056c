import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
import type { AtRevision, Reading } from '../published/reading.ts';
import type { OutsideTool, Tool } from './tool.ts';

/** Describes a failure of ours, with the id under which the operator finds its cause in the log. */
function describeOurFault(requestId: string | undefined): string {
  const words = 'Something went wrong on our side. Try again in a moment.';
  return requestId === undefined ? words : `${words} The operator finds it in the log by the id ${requestId}.`;
}

/** Outcome of a call: an answer, a refusal that the caller can correct, or a failure of ours. */
export type CallOutcome = 'answered' | 'refused' | 'failed';

/** A call of a tool that has ended. A failure is a result, too. */
interface Called {
  readonly outcome: CallOutcome;
  readonly result: CallToolResult;
}

/** Answers all requests of the protocol, in one place. */
export type Caller = ReturnType<typeof buildCaller>;

/** Options of the caller, besides a reading. */
export interface CallerOptions {
  /** Called with failures that are the service's own fault. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Returns the id under which the current request is logged. */
  readonly findRequestId?: (() => string | undefined) | undefined;
}

/**
 * Builds the caller for a reading. Each answer is of one revision. A failure that the client can correct is answered in words.
 * Any other failure goes to `onError`, and the client does not see its text.
 */
export function buildCaller(reading: Reading, { onError, findRequestId }: CallerOptions = {}) {
  const answerAtOnce = <Answer>(work: (context: AtRevision) => Answer) =>
    reading.readAtOnce((snapshot) => work({ reading, snapshot }));
  const getWords = (error: unknown): string => {
    if (error instanceof ServiceError) return [error.message, error.hint].filter(Boolean).join(' ');
    onError?.(error);
    return describeOurFault(findRequestId?.());
  };
  const buildFailed = (error: unknown): Called => ({
    outcome: error instanceof ServiceError ? 'refused' : 'failed',
    result: { content: [{ type: 'text', text: getWords(error) }], isError: true },
  });
  const asProtocolError = (error: unknown): ProtocolError => {
    if (error instanceof ProtocolError) return error;
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    return new ProtocolError(error instanceof ServiceError ? InvalidParams : InternalError, getWords(error));
  };
  return {
    /** Calls a tool. */
    callTool(tool: Tool, args: unknown): Called {
      try {
        return buildAnswered(answerAtOnce((context) => tool.answer(args, context)));
      } catch (error) {
        return buildFailed(error);
      }
    },
    /** Calls a tool that makes requests to others. */
    callOutside: (tool: OutsideTool, args: unknown): Promise<Called> => tool.ask(args).then(buildAnswered, buildFailed),
    /** Answers another request. Throws only `ProtocolError`: with what the caller can correct, or as a failure of ours. */
    answer<Answer>(work: (context: AtRevision) => Answer): Answer {
      try {
        return answerAtOnce(work);
      } catch (error) {
        throw asProtocolError(error);
      }
    },
    /** Answers a request that takes long: `work` reads, and returns a function that builds the answer in pieces. */
    async answerInPieces<Answer>(work: (context: AtRevision) => () => Promise<Answer>): Promise<Answer> {
      try {
        return await answerAtOnce(work)();
      } catch (error) {
        throw asProtocolError(error);
      }
    },
  };
}

/** Builds a result that has the answer twice (MCP, "Structured Content"): hosts pass only one of the two to the model. */
function buildAnswered(answer: Record<string, unknown>): Called {
  const result: CallToolResult = {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
  };
  return { outcome: 'answered', result };
}
