import { formatUsdc } from '../model/usdc.ts';
import type { AddressCheck } from '../probing/check-address.ts';
import type { Page } from './terminal/page.ts';

/** Most routes of one listing, and most findings, that are written for a person. */
const SHOWN_ROUTES = 20;
const SHOWN_FINDINGS = 100;

/** Writes what would be listed, then each finding with its place and its fix, and what is corrected. */
export function renderAddressCheck(
  { listings, findings, corrected }: Pick<AddressCheck, 'listings' | 'findings' | 'corrected'>,
  page: Page,
): void {
  if (!page.isTerminal) {
    renderRows({ listings, findings }, page);
    return;
  }
  for (const { base_url, title, routes } of listings) {
    page.blank();
    page.title(`Would be listed: ${title}, ${base_url}`);
    page.table(
      [{ heading: 'price' }, { heading: 'route', cut: true }],
      routes
        .slice(0, SHOWN_ROUTES)
        .map(({ method, url, price, networks }) => [
          price === null ? 'no price' : `${formatUsdc(price)} USDC on ${networks.join(', ')}`,
          `${method} ${url}`,
        ]),
      2,
    );
    if (routes.length > SHOWN_ROUTES) page.say(`And ${routes.length - SHOWN_ROUTES} more routes.`, 2);
  }
  if (findings.length > 0) {
    page.blank();
    page.title('Findings');
  }
  for (const { severity, code, item, message, place, fix, ...found } of findings.slice(0, SHOWN_FINDINGS)) {
    const example = found.corrected ?? found.example;
    page.say(
      { text: `${severity} ${code}${place ? ` at ${place}` : ''}`, style: severity === 'refused' ? 'red' : 'yellow' },
      2,
    );
    page.say(`${item}: ${message}`, 4);
    if (fix !== null) page.say(`Fix: ${fix}`, 4);
    if (example !== null) page.say({ text: example, style: 'dim' }, 6);
  }
  const more = findings.length - SHOWN_FINDINGS;
  if (more > 0) page.say(`And ${more} more findings; --json has them all.`, 2);
  for (const { item, sent_as, json, header } of corrected) {
    page.blank();
    page.title(`Corrected: the ${sent_as} of ${item}`);
    page.say(json, 2);
    if (header !== undefined) page.say(`PAYMENT-REQUIRED: ${header}`, 2);
  }
}

/** Writes all of it for a program, one line each: what would be listed, then the findings. */
function renderRows({ listings, findings }: Pick<AddressCheck, 'listings' | 'findings'>, page: Page): void {
  const columns = ['kind', 'what', 'where', 'found', 'what to do'].map((heading) => ({ heading }));
  const routes = listings.flatMap(({ base_url, routes: own }) =>
    own.map(({ method, url, price, networks }) => {
      const words = price === null ? 'no price' : `${formatUsdc(price)} USDC on ${networks.join(', ')}`;
      return ['would be listed', `${method} ${url}`, base_url, words, ''];
    }),
  );
  const rows = findings.map(({ severity, code, item, message, place = '', fix }) => [
    `${severity} ${code}`,
    item,
    place,
    message,
    fix ?? '',
  ]);
  page.table(columns, [...routes, ...rows]);
}
