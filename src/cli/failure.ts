import { ServiceError } from '../errors.ts';

/** Exit codes. 1 also means that only a part was done. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Builds the failure of a wrong command line: an unknown command or option, a missing or invalid value. */
export function buildUsageFailure(message: string, hint: string): ServiceError {
  return new ServiceError('bad_input', message, { hint, reason: 'usage' });
}

/** Returns the exit code of a failure. */
export function getExitCode({ reason }: ServiceError): number {
  return reason === 'usage' ? EXIT.usage : EXIT.failed;
}

/** Builds the JSON document of a failure. */
export function buildFailureDocument({ code, reason, message, hint, details }: ServiceError): object {
  const error = { code, reason, message };
  return {
    error: {
      ...error,
      ...(hint === undefined ? {} : { hint }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    },
  };
}
