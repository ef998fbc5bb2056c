import { Gauge, Registry } from 'prom-client';

/** A figure at one moment: its name in Prometheus, its meaning, and its values by labels. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/**
 * Returns figures in the text format of Prometheus. A figure without values is listed without a sample, since 0 would be wrong.
 */
export function formatFigures(figures: readonly Figure[]): Promise<string> {
  const register = new Registry();
  for (const { name, help, values } of figures) {
    const labelNames = Object.keys(values[0]?.labels ?? {});
    const gauge = new Gauge({ name, help, labelNames, registers: [register] });
    if (values.length === 0) gauge.remove();
    for (const { labels, value } of values) gauge.set({ ...labels }, value);
  }
  return register.metrics();
}
