import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeProbingFolder, type ProbingFolder, stopServer } from '../http/npm.ts';

let folder: ProbingFolder;
beforeAll(async () => {
  folder = await makeProbingFolder();
});
afterAll(() => folder.close());

it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'Ctrl-C'] as const)(
  'npm start ends with all that it started on %s, and the port is free',
  async (how) => {
    const { processes, isOpen } = await stopServer(folder, how);
    expect(processes).toBeGreaterThanOrEqual(3);
    expect(isOpen).toBe(false);
  },
);
