import { buildRow, type Row } from './measuring.ts';
import { measureDirectory, measureStart } from './serving.ts';
import type { Run } from './world.ts';

/** A figure that grows with the catalogue: ours at each size, and theirs where another server is compared. */
interface Growing {
  readonly what: string;
  readonly unit: string;
  readonly beside: string | undefined;
  readonly ours: (readonly [listings: number, figure: number])[];
  readonly theirs: (readonly [listings: number, figure: number])[];
}

/**
 * Measures how processor time for a request, start, memory and file grow from size to size: the exponent to which the number
 * of listings is raised. 0 is no growth, and 1 as much as the catalogue.
 */
export async function measureGrowth(run: Run, sizes: readonly number[]): Promise<Row[]> {
  const growing = new Map<string, Growing>();
  for (const listings of sizes) {
    for (const row of await measureDirectory(run, listings)) {
      const { cpu_us, cpu_ratio } = row;
      if (cpu_us !== undefined && cpu_ratio !== undefined) {
        add(growing, { ...row, unit: 'processor time', ours: cpu_us, theirs: cpu_us * cpu_ratio });
      }
    }
    for (const row of await measureStart(run, listings)) add(growing, row);
  }
  const from = Math.min(...sizes).toLocaleString('en');
  return [...growing.values()].map(({ what, unit, beside, ours, theirs }) => {
    const { ratio: _meaningless, ...row } = buildRow({
      ...{ listings: Math.max(...sizes), what, unit: `exponent of ${unit}, from ${from}`, beside },
      ours: getExponent(ours),
      theirs: theirs.length > 0 ? getExponent(theirs) : undefined,
    });
    return row;
  });
}

function add(growing: Map<string, Growing>, { listings, what, unit, beside, ours, theirs }: Row): void {
  const key = `${what} ${unit}`;
  const known = growing.get(key) ?? { what, unit, beside, ours: [], theirs: [] };
  growing.set(key, known);
  known.ours.push([listings, ours]);
  if (theirs !== undefined) known.theirs.push([listings, theirs]);
}

/** Returns the exponent of a power law through points: the slope of their logarithms by least squares. */
export function getExponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.map(([x, y]): [number, number] => [Math.log(x), Math.log(y)]);
  const mean = (at: 0 | 1) => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
