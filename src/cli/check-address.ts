import type { CheckLine, CheckResult } from '../views/provider-check.ts';
import type { Page } from './terminal/page.ts';

/** Most lines, and most routes of one listing, that are written for a person. */
const SHOWN_LINES = 100;
const SHOWN_ROUTES = 20;

type Route = CheckResult['listings'][number]['routes'][number];

/** Writes what was found, line by line, with place and fix; then what would be listed. */
export function renderAddressCheck({ checks, listings }: CheckResult, page: Page): void {
  if (!page.isTerminal) {
    renderRows({ checks, listings }, page);
    return;
  }
  for (const line of checks.slice(0, SHOWN_LINES)) renderLine(line, page);
  const more = checks.length - SHOWN_LINES;
  if (more > 0) page.say(`And ${more} more findings; --json has them all.`);
  for (const { base_url, title, routes } of listings) {
    page.blank();
    page.title(`Would be listed: ${title}, ${base_url}`);
    const rows = routes.slice(0, SHOWN_ROUTES).map((route) => [getPrice(route), `${route.method} ${route.url}`]);
    page.table([{ heading: 'price' }, { heading: 'route', cut: true }], rows, 2);
    if (routes.length > SHOWN_ROUTES) page.say(`And ${routes.length - SHOWN_ROUTES} more routes.`, 2);
  }
}

function renderLine(line: CheckLine, page: Page): void {
  const { passed, severity, item, place, fix, example } = line;
  const style = passed ? 'green' : severity === 'required' ? 'red' : 'yellow';
  page.say({ text: `${getMark(line)} ${item}${place ? ` at ${place}` : ''}: ${getFound(line)}`, style });
  if (fix !== undefined) page.say(`Fix: ${fix}`, 2);
  if (example !== undefined) page.say({ text: example, style: 'dim' }, 4);
}

/** Writes all of it for a program, one line each: what was found, then what would be listed. */
function renderRows({ checks, listings }: Pick<CheckResult, 'checks' | 'listings'>, page: Page): void {
  const columns = ['state', 'what', 'where', 'found', 'what to do'].map((heading) => ({ heading }));
  const lines = checks.map((line) => [getMark(line), line.item, line.place ?? '', getFound(line), line.fix ?? '']);
  const routes = listings.flatMap(({ base_url, routes: own }) =>
    own.map((route) => ['would be listed', `${route.method} ${route.url}`, base_url, getPrice(route), '']),
  );
  page.table(columns, [...lines, ...routes]);
}

const getMark = ({ passed, severity }: CheckLine): string =>
  passed ? 'ok' : severity === 'required' ? 'problem' : 'note';

/** Returns what was seen, or the code of a finding with its meaning. */
const getFound = ({ actual, code, detail }: CheckLine): string => actual ?? `${code}: ${detail}`;

const getPrice = ({ price_usdc, networks }: Route): string =>
  price_usdc === undefined ? 'no price' : `${price_usdc} USDC on ${networks.join(', ')}`;
