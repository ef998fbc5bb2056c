import type { Declaration } from '../model/declaration.ts';
import { formatRoute, getRouteUrl } from '../model/route.ts';
import type { ApiDocument } from './document-declarations.ts';
import { buildFinding } from './finding-codes.ts';
import { getTemplatePath } from './outside-address.ts';

/**
 * Brings everything that a document declares under one base address, which is how the catalogue lists it: routes below
 * that address keep their whole address, with another path; others are refused. The base address is in canonical form.
 */
export function rebaseDeclarations(document: ApiDocument, baseUrl: string): ApiDocument {
  const prefix = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const findings = [...document.findings];
  const routes = new Map<string, Declaration['routes'][number]>();
  const { received } = document.items;
  let { taken, duplicates, refused } = document.items;
  for (const { base_url, routes: own } of document.declarations) {
    for (const route of own) {
      const url = new URL(getRouteUrl(base_url, route.path));
      const whole = getTemplatePath(url);
      const path = whole.slice(prefix.length);
      const key = `${route.method} ${path}`;
      if (url.origin !== new URL(baseUrl).origin || !whole.startsWith(`${prefix}/`)) {
        taken -= 1;
        refused += 1;
        const item = `${route.method} ${getRouteUrl(base_url, route.path)}`;
        findings.push(buildFinding('refused', 'outside_base_address', item));
      } else if (routes.has(key)) {
        taken -= 1;
        duplicates += 1;
      } else routes.set(key, { ...route, path });
    }
  }
  const [first] = document.declarations;
  const sorted = [...routes.values()].sort((a, b) => (formatSortKey(a) < formatSortKey(b) ? -1 : 1));
  return {
    ...document,
    declarations: first && sorted.length > 0 ? [{ ...first, base_url: baseUrl, routes: sorted }] : [],
    findings,
    items: { received, taken, duplicates, refused },
  };
}

function formatSortKey(route: Declaration['routes'][number]): string {
  return `${route.path} ${formatRoute(route)}`;
}
