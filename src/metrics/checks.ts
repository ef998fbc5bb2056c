import { Counter, Histogram, type Registry } from 'prom-client';

const SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/** Counts checks of the intake: those that ended by `done`, refusals by their code. `ms` is the time of a check. */
export type CountCheck = (outcome: string, ms?: number) => void;

/** Adds the figures of the intake to a register. Returns the function that counts. */
export function addCheckMetrics(register: Registry): CountCheck {
  const registers = [register];
  const checks = new Counter({
    name: 'catalogue_checks_total',
    help: 'Checks of addresses that the intake was asked for: done, or refused by the code of the reason',
    labelNames: ['outcome'],
    registers,
  });
  const time = new Histogram({
    name: 'catalogue_check_duration_seconds',
    help: 'How long those took that were done',
    buckets: SECONDS,
    registers,
  });
  checks.inc({ outcome: 'done' }, 0);
  return (outcome, ms) => {
    checks.inc({ outcome });
    if (ms !== undefined) time.observe(ms / 1000);
  };
}
