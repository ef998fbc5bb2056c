import { createContext, runInContext } from 'node:vm';
import { parse } from 'yaml';
import { readDeployed } from './tools.ts';

/** The alerts of `scripts/deploy`, with the condition of each in the language of Prometheus. */
export const ALERTS: readonly { alert: string; expr: string }[] = parse(
  readDeployed('prometheus/alerts.yml'),
).groups.flatMap(({ rules }: { rules: { alert: string; expr: string }[] }) => rules);

/** A metric in an expression: its name, and what its labels have to be. */
const SELECTOR = /\b(up|(?:catalogue|process|nodejs)_\w+)(?:\{([^}]*)\})?/g;

/**
 * Lists the alerts that samples (lines of name, labels and value) would set off, `at` seconds since 1970, if they had been
 * the same for hours. Only `promtool` knows all of that language; this knows as much of it as the alerts use. Samples that
 * a selector matches are added up.
 */
export function listFiring(samples: readonly string[], at: number): string[] {
  const read = (name: string, labels: string) => {
    const values = samples.filter((line) => fits(line, name, labels)).map((line) => Number(line.split(' ').at(-1)));
    return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value);
  };
  const itself = (value: number) => value;
  const context = createContext({
    read,
    time: () => at,
    sum: itself,
    max: itself,
    histogram_quantile: () => Number.NaN,
  });
  const isTrue = (expr: string) => runInContext(translate(expr), context) === true;
  return ALERTS.filter(({ expr }) => isTrue(expr)).map(({ alert }) => alert);
}

/** Translates an expression into JavaScript. Nothing changed, so that all rates are 0. */
function translate(expr: string): string {
  return expr
    .replace(/\b(?:rate|increase)\([^)]*\)/g, '0')
    .replace(/ offset \w+| (?:by|on|group_left) \([^)]*\)/g, '')
    .replace(SELECTOR, (_, name: string, labels = '') => `read(${JSON.stringify(name)}, ${JSON.stringify(labels)})`)
    .replace(/ unless ([\s\S]*)/, ' && !($1)')
    .replaceAll(' and ', ' && ')
    .replaceAll(' or ', ' || ')
    .replaceAll(' == ', ' === ');
}

function fits(line: string, name: string, labels: string): boolean {
  if (/^[^{ ]+/.exec(line)?.[0] !== name) return false;
  return [...labels.matchAll(/(\w+)=(~?)"([^"]*)"/g)].every(([, label, isPattern, wanted = '']) => {
    const value = new RegExp(`\\b${label}="([^"]*)"`).exec(line)?.[1] ?? '';
    return isPattern ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted;
  });
}

/** Builds the input of `promtool test rules`: that none of the alerts fires after hours of these samples, read at `at`. */
export function buildQuietTest(samples: readonly string[], at: number, rules: string): string {
  const input_series = samples.flatMap((line) => {
    const split = line.lastIndexOf(' ');
    const [series, value] = [line.slice(0, split), Number(line.slice(split + 1))];
    if (!Number.isFinite(value)) return [];
    // Its clock begins at 0.
    return [{ series, values: `${series.includes('_timestamp_seconds') ? value - at : value}x240` }];
  });
  const alert_rule_test = ALERTS.map(({ alert }) => ({ eval_time: '4h', alertname: alert, exp_alerts: [] }));
  return JSON.stringify({ rule_files: [rules], tests: [{ interval: '1m', input_series, alert_rule_test }] });
}
