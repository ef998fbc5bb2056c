import type { Tool } from '../tool.ts';
import { catalogueSummaryTool } from './catalogue-summary.ts';
import { checkPaymentTermsTool } from './check-payment-terms.ts';
import { getListingTool } from './get-listing.ts';
import { listChangesTool } from './list-changes.ts';
import { searchListingsTool } from './search-listings.ts';

/** Every tool of the server, by its name, in the order of the tool list. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  search_listings: searchListingsTool,
  get_listing: getListingTool,
  check_payment_terms: checkPaymentTermsTool,
  list_changes: listChangesTool,
  catalogue_summary: catalogueSummaryTool,
};
