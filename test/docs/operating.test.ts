import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/index.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { FAULTS } from '../../src/http/endpoints/health.ts';
import { makeUsed } from '../cli/used.ts';
import { DEPLOY, listDeployed, ROOT, readDeployed } from '../deploy/tools.ts';
import { serveWithMetrics } from '../http/metrics.ts';
import { ask } from '../http/running.ts';

const MANUAL = readFileSync(join(ROOT, 'src/docs/operating.md'), 'utf8');

/** The text below a heading, up to the next one. */
function getSection(title: string): string {
  const [, text = ''] = new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(MANUAL) ?? [];
  if (text === '') throw new Error(`there is no section ${title}`);
  return text;
}

/** The cells of the rows of all tables in a text, heads left out. */
function listRows(text: string): string[][] {
  const lines = text.split('\n');
  const isHead = (at: number) => /^\| -+/.test(lines[at] ?? '') || /^\| -+/.test(lines[at + 1] ?? '');
  return lines.flatMap((line, at) =>
    line.startsWith('|') && !isHead(at)
      ? [
          line
            .slice(1, -1)
            .split('|')
            .map((cell) => cell.trim()),
        ]
      : [],
  );
}

/** What of a document is there to compare: the names of its fields, with those of the objects in them. */
function getShape(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return typeof document;
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, getShape(value)]));
}

describe('what the manual says of metrics', () => {
  it('is every metric of ours, and no other', async () => {
    const server = await serveWithMetrics();
    const served = (await ask({ url: server.metricsUrl }, '/metrics')).text;
    const { run } = await makeUsed({ MAX_USDC_PER_DAY: '1' });
    const { stdout } = await run(['metrics']);
    const names = [...`${served}\n${stdout}`.matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name);
    const ours = names.filter((name) => name.startsWith('catalogue_'));
    const rows = listRows(getSection('Metrics')).map(([cell = '']) => cell);
    const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect(named.toSorted()).toEqual([...new Set(ours)].sort());
    for (const [, name = ''] of getSection('Metrics').matchAll(/`((?:process|nodejs)_\w+)`/g))
      expect(names).toContain(name);
  });
});

describe('what it says of health', () => {
  it('is a document as the service sends it', async () => {
    const server = await serveWithMetrics();
    const [, sample = ''] = /```json\n([\s\S]*?)```/.exec(getSection('Health')) ?? [];
    const sent = JSON.parse((await ask(server, '/readyz')).text);
    const shown = JSON.parse(sample);
    expect(getShape({ ...shown, following: { ...shown.following, failing_since: null } })).toEqual(getShape(sent));
    expect(shown.catalogue.age_seconds).toBeGreaterThan(shown.pages.age_seconds);
  });

  it('has every code with its state', () => {
    const rows = listRows(getSection('Health')).map(([code, state]) => [code, state].map((cell) => cell?.slice(1, -1)));
    expect(Object.fromEntries(rows)).toEqual(FAULTS);
  });
});

describe('what it says of things that are wrong', () => {
  it('has a row for every alert, with what it means and what to do', () => {
    const { groups } = parse(readDeployed('prometheus/alerts.yml'));
    const alerts = groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert));
    const rows = listRows(getSection('When something is wrong'));
    const named = rows.flatMap(([seen = '']) => /^`([A-Z][A-Za-z]+)`$/.exec(seen)?.[1] ?? []);
    expect(named).toEqual(alerts);
    for (const cells of rows)
      expect([cells[0], cells.length, cells.every((cell) => cell.length > 3)]).toEqual([cells[0], 3, true]);
  });
});

describe('the commands that it shows', () => {
  it('are of the tasks first, in the order in which they come up', () => {
    const tasks = [...MANUAL.matchAll(/^## (.*)$/gm)].map(([, title]) => title).slice(0, 6);
    expect(tasks).toEqual([
      'Install',
      'First probe',
      'First proof',
      'Back up and restore',
      'Upgrade',
      'More than one machine',
    ]);
    for (const task of tasks) expect(getSection(task ?? '')).toContain('```sh\n');
  });

  it('can be pasted: each of ours is understood with its words', async () => {
    const commands = await loadCommands([]);
    const lines = [...MANUAL.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) => text.split('\n'));
    const ours = lines.filter((line) => line.startsWith('catalogue ')).map((line) => line.split(' ').slice(1));
    expect(ours.length).toBeGreaterThan(6);
    // Throws for a command, an option or an argument that there is not.
    for (const args of ours) expect(parseCommandLine(commands, args)).toMatchObject({ kind: 'run' });
    const named = ours.flatMap(([, word = '']) => (/^\w+-\w+$/.test(word) ? [`data/listings/${word}.yaml`] : []));
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('name files and units that there are', () => {
    const blocks = [...MANUAL.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text).join('');
    const files = [...blocks.matchAll(/scripts\/deploy\/[\w./-]+/g)].map(([file]) => file.replace(/-$/, ''));
    expect(files.length).toBeGreaterThan(2);
    const isThere = (file: string) =>
      existsSync(join(ROOT, file)) ||
      listDeployed('systemd', '').some((name) => join(DEPLOY, 'systemd', name).startsWith(join(ROOT, file)));
    expect(files.filter((file) => !isThere(file))).toEqual([]);
    const units = [...MANUAL.matchAll(/(?<!\/lib\/)\bcatalogue-(?!payer\b(?!\.))[a-z]+(?:\.\w+)?/g)].map(
      ([unit]) => unit,
    );
    const known = listDeployed('systemd', '');
    expect(units.filter((unit) => !known.includes(unit) && !known.includes(`${unit}.service`))).toEqual([]);
  });

  it('are commands that there are', () => {
    const rows = listRows(getSection('When something is wrong')).map(([, , todo = '']) => todo);
    const named = [...rows.join('\n').matchAll(/`(receipts|status|probe|check|import|backup|verify)\b/g)];
    expect(named.length).toBeGreaterThan(5);
    for (const [, name = ''] of named) expect(COMMAND_NAMES).toContain(name);
  });
});
