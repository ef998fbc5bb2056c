/**
 * The process of the intake. The server that starts it sends its settings, receives its messages, and ends it. It also ends when
 * the server does.
 */
import { getErrorMessage } from '../errors.ts';
import type { IntakeMessage, IntakeRequest } from '../http/intake-process.ts';
import { getFailure } from '../model/failure.ts';
import { startIntake } from './intake.ts';

const say = (message: IntakeMessage) => process.connected && process.send?.(message);

process.once('disconnect', () => process.exit());
process.once('message', async ({ config, key }: IntakeRequest) => {
  try {
    const { url, close } = await startIntake({
      config,
      key,
      onEnd: (outcome, ms) => say({ outcome, ...(ms !== undefined && { ms }) }),
      onIdle: () => say({ idle: true }),
      onError: (error) => say({ fault: (error instanceof Error && error.stack) || getErrorMessage(error) }),
    });
    process.once('SIGTERM', async () => {
      await close();
      process.exit();
    });
    say({ url });
  } catch (error) {
    const { message, hint = '' } = getFailure(error);
    say({ fault: `${message} ${hint}`.trim() });
    process.exitCode = 1;
    process.disconnect();
  }
});
