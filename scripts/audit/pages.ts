import { buildUsageFailure } from '../../src/commands/failure.ts';
import { PATHS } from '../../src/views/links.ts';
import { SHOWN_SLUG } from './shown.ts';

/** How the command is called. */
export const USAGE = 'npm run audit -- [--json] [path…]';

/** A page that is audited. */
export interface AuditedPage {
  readonly name: string;
  readonly path: string;
}

/** Every kind of page that search engines are to find. Search results are left out: they ask not to be indexed. */
const PAGES: readonly AuditedPage[] = [
  { name: 'home', path: PATHS.home },
  { name: 'listing', path: PATHS.listing(SHOWN_SLUG) },
  { name: 'category', path: PATHS.category('Data') },
  { name: 'verified', path: PATHS.verified },
  { name: 'docs', path: PATHS.docs },
  { name: 'docs: agents', path: PATHS.docsAgents },
  { name: 'docs: endpoints', path: PATHS.docsApi },
  { name: 'docs: operating', path: PATHS.docsOperating },
  { name: 'docs: architecture', path: PATHS.docsArchitecture },
  { name: 'docs: providers', path: PATHS.providers },
  { name: 'method', path: PATHS.method },
  { name: 'market', path: PATHS.market },
  { name: 'changes', path: PATHS.changes },
];

/** Gives the pages of the paths asked for, all where none is named. Throws `bad_input` for what is no path. */
export function getPages(paths: readonly string[]): readonly AuditedPage[] {
  if (paths.length === 0) return PAGES;
  return paths.map((path) => {
    if (!/^\/(?!\/)\S*$/.test(path)) throw buildPathFailure(`"${path}" is not the path of a page.`);
    return PAGES.find((page) => page.path === path) ?? { name: path, path };
  });
}

/** Builds the failure of a path that no page is audited for. */
export function buildPathFailure(message: string) {
  return buildUsageFailure(message, `${USAGE}, where a path is one of ${PAGES.map(({ path }) => path).join(' ')}`);
}
