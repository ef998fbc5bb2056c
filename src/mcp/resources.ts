import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
  UriTemplate,
} from '@modelcontextprotocol/server';
import { slug } from '../model/listing.ts';
import { findListingPage } from '../published/page-models.ts';
import { buildListingMarkdown, buildTombstoneMarkdown } from '../views/listing/markdown.ts';
import type { Caller } from './caller.ts';
import type { ToolContext } from './tool.ts';
import { catalogueSummaryTool } from './tools/catalogue-summary.ts';

/** Addresses of the resources. The second is a template: `{slug}` is the slug of a listing. */
export const SUMMARY_URI = 'catalogue://summary';
export const LISTING_URI = 'catalogue://listing/{slug}';

const SUMMARY = {
  title: 'Catalogue summary',
  description: 'How many APIs are listed and how many are settlement-verified, by category, as JSON.',
  mimeType: 'application/json',
};

const LISTING = {
  title: 'One payable API',
  description:
    'Everything on record of one listed API as Markdown, with its history; a delisted one answers with its tombstone. It ' +
    'can be long: get_listing is the short form. What providers wrote stands in block quotes and code.',
  mimeType: 'text/markdown',
};

/**
 * Builds the answers about resources. Listings are not in the list of resources: hosts walk a list to its end and show all
 * of it, and there are thousands; the template with its completion leads to each.
 */
export function buildResources({ answer }: Caller): (server: Server) => void {
  const resources = [{ uri: SUMMARY_URI, name: 'summary', ...SUMMARY }];
  const resourceTemplates = [{ name: 'listing', uriTemplate: LISTING_URI, ...LISTING }];
  return (server) => {
    server.setRequestHandler('resources/list', () => ({ resources }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) =>
      answer((context) => readResource(uri, context)),
    );
  };
}

const listingAddress = new UriTemplate(LISTING_URI);

/** Reads the resource at an address. Throws ProtocolError for an unknown address. */
function readResource(uri: string, context: ToolContext): ReadResourceResult {
  const href = URL.parse(uri)?.href;
  if (href === undefined) {
    const data = { uri, reason: 'invalid_uri' };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource URI ${uri} is invalid`, data);
  }
  if (href === SUMMARY_URI) {
    return buildContents(href, SUMMARY.mimeType, buildSummaryText(context), context);
  }
  const named = listingAddress.match(href)?.slug;
  if (named === undefined) throw new ResourceNotFoundError(uri);
  const text = findListingText(String(named), context);
  if (text === undefined) {
    throw new ResourceNotFoundError(href, 'There is no listing at this address. search_listings gives their slugs.');
  }
  return buildContents(href, LISTING.mimeType, text, context);
}

function buildSummaryText(context: ToolContext): string {
  return JSON.stringify(catalogueSummaryTool.answer({}, context));
}

/** Finds the text of a listing: the Markdown twin of its page, or of its tombstone. */
function findListingText(named: string, { reading }: ToolContext): string | undefined {
  const page = slug.safeParse(named).success ? findListingPage(reading, named) : undefined;
  if (!page) return undefined;
  return page.kind === 'live' ? buildListingMarkdown(page, reading.site) : buildTombstoneMarkdown(page);
}

function buildContents(uri: string, mimeType: string, text: string, { snapshot }: ToolContext): ReadResourceResult {
  return { contents: [{ uri, mimeType, text, _meta: { revision: snapshot.revision } }] };
}
