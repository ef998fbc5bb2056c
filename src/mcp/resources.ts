import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
  UriTemplate,
} from '@modelcontextprotocol/server';
import { slug } from '../model/listing.ts';
import { findListingPage } from '../published/page-data.ts';
import type { AtRevision, Reading } from '../published/reading.ts';
import { buildListingMarkdown, buildTombstoneMarkdown } from '../views/listing/markdown.ts';
import type { Caller } from './caller.ts';
import { catalogueSummaryTool } from './tools/catalogue-summary.ts';

/** Addresses of the resources. The second is a template: `{slug}` is the slug of a listing. */
const SUMMARY_URI = 'catalogue://summary';
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
 * Builds the handlers of resources. Listings are not in the list of resources, since hosts read and show the whole list, and
 * there are thousands of listings; the template with its completion leads to each.
 */
export function buildResources({ answerInPieces }: Caller): (server: Server) => void {
  const resources = [{ uri: SUMMARY_URI, name: 'summary', ...SUMMARY }];
  const underWay: UnderWay = new Map();
  const resourceTemplates = [{ name: 'listing', uriTemplate: LISTING_URI, ...LISTING }];
  return (server) => {
    server.setRequestHandler('resources/list', () => ({ resources }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) =>
      answerInPieces((context) => readResource(uri, context, underWay)),
    );
  };
}

const listingAddress = new UriTemplate(LISTING_URI);

/**
 * Reads the resource at an address, and returns a function that builds its text. Throws `ProtocolError` for an unknown address,
 * and so does the function.
 */
function readResource(uri: string, context: AtRevision, underWay: UnderWay): () => Promise<ReadResourceResult> {
  const href = URL.parse(uri)?.href;
  if (href === undefined) {
    const data = { uri, reason: 'invalid_uri' };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource URI ${uri} is invalid`, data);
  }
  if (href === SUMMARY_URI) {
    const text = JSON.stringify(catalogueSummaryTool.answer({}, context));
    return async () => buildContents(href, SUMMARY.mimeType, text, context);
  }
  const named = listingAddress.match(href)?.slug;
  if (named === undefined) throw new ResourceNotFoundError(uri);
  const found = findListingText(String(named), context, underWay);
  return async () => {
    const text = await found;
    if (text !== undefined) return buildContents(href, LISTING.mimeType, text, context);
    throw new ResourceNotFoundError(href, 'There is no listing at this address. search_listings gives their slugs.');
  };
}

/** Texts that are being built, by slug and revision. */
type UnderWay = Map<string, Promise<string | undefined>>;

/**
 * Returns the text of a listing: the Markdown twin of its page, or of its tombstone. Requests for the same text meanwhile share
 * it, since one with thousands of routes takes long. Undefined if there is no such listing.
 */
function findListingText(
  named: string,
  { reading, snapshot }: AtRevision,
  underWay: UnderWay,
): Promise<string | undefined> {
  const key = `${named} ${snapshot.revision}`;
  const shared = underWay.get(key);
  if (shared) return shared;
  const text = buildText(named, reading).finally(() => underWay.delete(key));
  underWay.set(key, text);
  return text;
}

async function buildText(named: string, reading: Reading): Promise<string | undefined> {
  const page = slug.safeParse(named).success ? await findListingPage(reading, named) : undefined;
  if (!page) return undefined;
  return page.kind === 'live' ? buildListingMarkdown(page, reading.site) : buildTombstoneMarkdown(page);
}

function buildContents(uri: string, mimeType: string, text: string, { snapshot }: AtRevision): ReadResourceResult {
  return { contents: [{ uri, mimeType, text, _meta: { revision: snapshot.revision } }] };
}
