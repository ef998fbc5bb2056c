import type { Listing } from '../model/listing.ts';
import type { Page } from './terminal/page.ts';

/** What became of a listing that was to be taken out or put back. */
export interface StateChange {
  /** False where it was so already. */
  changed: boolean;
  revision: number;
  before: Listing['state'];
  listing: Listing;
}

/** Says what the listing was and is, and since which revision readers see it. */
export function renderStateChange({ changed, revision, before, listing }: StateChange, page: Page): void {
  const { slug, state, state_reason, state_by } = listing;
  if (!changed) {
    page.say(`${slug} is ${state} already${state_reason ? ` (${state_reason})` : ''}; nothing changed.`);
    return;
  }
  const why = state === 'live' || !state_reason ? '' : ` by the ${state_by}: ${state_reason}`;
  page.say(`${slug} was ${before} and is now ${state}${why}.`);
  page.say({ text: `Readers see it from revision ${revision} on; pages follow with the next rebuild.`, style: 'dim' });
}
