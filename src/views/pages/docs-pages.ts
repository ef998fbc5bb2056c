import { PATHS } from '../links.ts';

/** One page of the documentation in the sidebar and the overview. */
interface DocsPage {
  readonly path: string;
  readonly title: string;
  /** Its content, in a sentence or two. */
  readonly text: string;
}

const OVERVIEW: DocsPage = {
  path: PATHS.docs,
  title: 'Documentation',
  text: 'How to point an agent at the catalogue, use its endpoints, list an API, read what the evidence means, and run a copy.',
};

/** All pages of the documentation by audience, in the order of "next page". */
export const DOCS_GROUPS: readonly {
  readonly id: string;
  readonly title: string;
  readonly pages: readonly DocsPage[];
}[] = [
  {
    id: 'agents',
    title: 'For agents',
    pages: [
      {
        path: PATHS.docsAgents,
        title: 'Connect your agent',
        text: 'MCP for every common client, to copy; plain HTTP for everything else; and how to pay without being fooled.',
      },
      {
        path: PATHS.docsUsing,
        title: 'Use the API',
        text: 'In five minutes: which address answers what, paging, checking a 402, following changes, errors, limits, and what stays as it is.',
      },
      {
        path: PATHS.docsApi,
        title: 'API reference',
        text: 'Every operation with its parameters, answers and a form that sends the request; and the listings of the live document.',
      },
      {
        path: PATHS.docsData,
        title: 'The catalogue as a file',
        text: 'One SQLite file with everything that is published: where to get it, what is in it, and ten questions with their SQL.',
      },
      {
        path: PATHS.docsChangelog,
        title: 'Changelog',
        text: 'What changed for programs that call this service, and which addresses will be removed.',
      },
    ],
  },
  {
    id: 'providers',
    title: 'For providers',
    pages: [
      {
        path: PATHS.providers,
        title: 'List, correct or remove an API',
        text: 'One small file on your own host. Free, and without an account.',
      },
      {
        path: PATHS.findings,
        title: 'Why am I not listed?',
        text: 'Every finding by its code: what it means, where it is in your document, and the fix to copy.',
      },
      {
        path: PATHS.method,
        title: 'How listings are checked',
        text: 'What is declared, seen and proved; what a band means; how a score is made; when a listing is removed.',
      },
    ],
  },
  {
    id: 'operators',
    title: 'For operators',
    pages: [
      {
        path: PATHS.docsOperating,
        title: 'Operate the service',
        text: 'For those who run a copy: installing it, the first probe and proof, backups, upgrades, settings and alerts.',
      },
      {
        path: PATHS.docsArchitecture,
        title: 'How the service works',
        text: 'For those who change the code: how facts become pages, what each folder and each package is for, and limits.',
      },
      {
        path: PATHS.docsSpeed,
        title: 'How fast it is',
        text: 'Requests, searches, starts and pages beside Express, FTS5 and Hugo, and what liars can take: measured.',
      },
    ],
  },
];

/** The groups of the sidebar, the overview first. */
export const DOCS_SIDEBAR = [{ title: 'Start here', pages: [OVERVIEW] }, ...DOCS_GROUPS];

/** Returns the page of the documentation at a path, and the pages before and after it; undefined at either end. */
export function findDocsPage(path: string): DocsPage & {
  readonly previous: DocsPage | undefined;
  readonly next: DocsPage | undefined;
} {
  const pages = DOCS_SIDEBAR.flatMap((group) => group.pages);
  const at = pages.findIndex((page) => page.path === path);
  return { ...(pages[at] ?? OVERVIEW), previous: pages[at - 1], next: pages[at + 1] };
}

/** Lists the headings of the second level that have an id, as HTML, in their order. */
export function listHeadings(html: string): { readonly id: string; readonly title: string }[] {
  return [...html.matchAll(/<h2(?=\s)[^>]*?\sid="([^"]+)"[^>]*>(.*?)<\/h2>/gs)].map(([, id = '', title = '']) => ({
    id,
    title,
  }));
}
