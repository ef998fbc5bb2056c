import type { Note } from '../finding-codes.ts';
import { parseListedUrl } from '../outside-address.ts';
import { readText } from '../provider-text.ts';
import { findMember, listOffers } from './places.ts';

/** What an item says of the service that it belongs to. Empty and null where it says nothing. */
export interface ServiceFacts {
  name: string;
  description: string;
  docs_url: string | null;
}

/**
 * Reads what an item says of its service. The `name` beside an asset (`extra.name`) is the token's and is not read. A
 * documentation address that could not be fetched is left out.
 */
export function readServiceFacts(raw: unknown, options: { allowPrivateNetworks: boolean }, note: Note): ServiceFacts {
  const holders = [raw, findMember(raw, 'resource'), findMember(raw, 'metadata')];
  const extras = listOffers(raw).map((offer) => findMember(offer, 'extra'));
  const docs = findText([...holders, ...extras], ['docs_url', 'docsUrl', 'documentationUrl']);
  const docsUrl = docs === undefined ? undefined : parseListedUrl(docs, options);
  return {
    name: readText(findText([...holders, ...extras], ['serviceName']), 'title', note),
    description: readText(findText([...holders, ...extras], ['serviceDescription']), 'description', note),
    docs_url: docsUrl instanceof URL ? docsUrl.href : null,
  };
}

function findText(holders: unknown[], names: string[]): string | undefined {
  return holders
    .flatMap((holder) => names.map((name) => findMember(holder, name)))
    .find((text): text is string => typeof text === 'string' && text.trim() !== '');
}
