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

const ON_THIS_MACHINE =
  'ALLOW_PRIVATE_NETWORKS=on lets this machine fetch from itself and its own network, over plain http, too.';

/** Hints for failures without one of their own, by reason and by code. */
const HINTS: Readonly<Record<string, string>> = {
  blocked_address: ON_THIS_MACHINE,
  blocked_host: ON_THIS_MACHINE,
  not_https: ON_THIS_MACHINE,
  bad_json: 'Open the address or file and look at its content.',
  name_not_resolved: 'Check the name of the host, and that this machine can look up names.',
  tls: 'Check the address: its host needs a certificate that is valid for its name.',
  timeout: 'Try again later.',
  held_up: 'Try again while this machine is less busy.',
  disconnected: 'Try again later.',
  stopped: 'Run the command again.',
  aborted: 'Run the command again.',
  unavailable: 'Check the address, or try again later.',
};

/** Returns a failure with a hint: its own, or a general one. */
export function addHint(failure: ServiceError): ServiceError & { hint: string } {
  const { code, message, reason, details, cause } = failure;
  const hint = failure.hint ?? HINTS[reason] ?? HINTS[code] ?? '--help shows how the command is used.';
  return Object.assign(new ServiceError(code, message, { reason, details, cause }), { hint });
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
