import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { APPLIES, DOES_NOT_APPLY, UNTESTABLE_CHECKS } from './conformance-scenarios.ts';
import { makeMany, serveMcp } from './serving.ts';

const SUITE = join(import.meta.dirname, '../../node_modules/.bin/conformance');

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

describe('the conformance suite', () => {
  it('has the scenarios that are judged here, and no others', async () => {
    const scenarios = (await listScenarios()).map(({ name }) => name);
    expect([...APPLIES, ...Object.keys(DOES_NOT_APPLY)].toSorted()).toEqual(scenarios.toSorted());
  });

  it.each(['2025-11-25', '2026-07-28'])('of protocol %s finds no fault in what applies', async (revision) => {
    const { url, errors } = await serveMcp(makeMany(12));
    const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await runSuite(['server', '--url', url.href, '--suite', 'all', '--spec-version', revision, '-o', folder]);
    const results = readResults(folder);
    const expected = (await listScenarios()).filter(({ name, revisions }) => {
      return isApplicable(name) && revisions.includes(revision);
    });
    expect(expected.length).toBeGreaterThanOrEqual(6);
    for (const { name: scenario } of expected) {
      const checks = results.get(scenario) ?? [];
      const told = checks.filter(({ id }) => !Object.hasOwn(UNTESTABLE_CHECKS, id));
      expect(
        told.filter(({ status }) => status === 'FAILURE' || status === 'WARNING'),
        scenario,
      ).toEqual([]);
      expect(
        told.some(({ status }) => status === 'SUCCESS'),
        scenario,
      ).toBe(true);
    }
    expect(errors).toEqual([]);
  });
});

function isApplicable(scenario: string): boolean {
  return APPLIES.some((name) => name === scenario);
}

let listed: Promise<string> | undefined;

/** Lists the suite's server scenarios with the protocol revisions that each is for. */
async function listScenarios(): Promise<{ name: string; revisions: string[] }[]> {
  listed ??= runSuite(['list', '--server']);
  return [...(await listed).matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)].map(([, name = '', revisions = '']) => ({
    name,
    revisions: revisions.split(','),
  }));
}

/** Gives what the suite prints; that it fails as a whole, by the scenarios that do not apply, is no news. */
async function runSuite(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { maxBuffer: 16 * 1024 * 1024 }, (_failed, stdout) => resolve(stdout));
  });
}

/** Reads the checks of each scenario: the suite leaves them in a folder named `server-<scenario>-<time>`. */
function readResults(folder: string): Map<string, Check[]> {
  return new Map(
    readdirSync(folder).map((name) => [
      name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1'),
      JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
    ]),
  );
}
