import { buildUsageFailure } from '../../src/cli/failure.ts';
import { PATHS } from '../../src/views/links.ts';
import { SHOWN_SLUG } from './shown.ts';

/** Usage of the command, in one line. */
export const USAGE = 'npm run audit -- [--json] [path…]';

/** A page that is audited. */
export interface AuditedPage {
  readonly name: string;
  readonly path: string;
}

/** Lists one page of each kind that search engines index. Search results are not indexed. */
const listPages = (slug: string): readonly AuditedPage[] => [
  { name: 'home', path: PATHS.home },
  { name: 'listing', path: PATHS.listing(slug) },
  { name: 'category', path: PATHS.category('Data') },
  { name: 'verified', path: PATHS.verified },
  { name: 'docs', path: PATHS.docs },
  { name: 'docs: agents', path: PATHS.docsAgents },
  { name: 'docs: endpoints', path: PATHS.docsApi },
  { name: 'docs: operating', path: PATHS.docsOperating },
  { name: 'docs: architecture', path: PATHS.docsArchitecture },
  { name: 'docs: speed', path: PATHS.docsSpeed },
  { name: 'docs: providers', path: PATHS.providers },
  { name: 'method', path: PATHS.method },
  { name: 'changes', path: PATHS.changes },
];

const PAGES = listPages(SHOWN_SLUG);

/** Returns the pages at the given paths, or all without any, with that of the listing `slug`. Throws `bad_input` for anything but a path. */
export function getPages(paths: readonly string[], slug = SHOWN_SLUG): readonly AuditedPage[] {
  if (paths.length === 0) return listPages(slug);
  return paths.map((path) => {
    if (!/^\/(?!\/)\S*$/.test(path)) throw buildPathFailure(`"${path}" is not the path of a page.`);
    return PAGES.find((page) => page.path === path) ?? { name: path, path };
  });
}

/** Builds the failure for a path without a page. */
export function buildPathFailure(message: string) {
  return buildUsageFailure(message, `${USAGE}, where a path is one of ${PAGES.map(({ path }) => path).join(' ')}`);
}
