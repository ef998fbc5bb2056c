import fc from 'fast-check';

/** How many examples fast-check takes by itself. */
const USUAL = 100;

/** Gives the runs of a property whose examples take long: this number, and in a long test as many times that as of others. */
export function fewExamples(count: number): { numRuns: number } {
  const { numRuns = USUAL } = fc.readConfigureGlobal();
  return { numRuns: Math.ceil((count * numRuns) / USUAL) };
}
