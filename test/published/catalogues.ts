import type { Catalogue } from '../../src/catalogue/database.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { Reading } from '../../src/published/reading.ts';
import { makeDeclaration } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { makeRecorded, recordAll } from '../recorded.ts';

/** A catalogue that is written to beside the reading of it. */
export interface ReadCatalogue {
  readonly reading: Reading & { close(): void };
  readonly catalogue: Catalogue;
  /** Records declarations, all in one write, so that they share a revision. */
  record(...declarations: Partial<Declaration>[]): Promise<void>;
}

export async function makeReadCatalogue(...declarations: Partial<Declaration>[]): Promise<ReadCatalogue> {
  const catalogue = await makeRecorded(declarations.map(makeListed));
  const record = (...wanted: Partial<Declaration>[]) => recordAll(catalogue, wanted.map(makeListed));
  return { reading: await openTestReading(catalogue), catalogue, record };
}

/** Makes a declaration whose slug gets a host and a provider of its own. */
export function makeListed(part: Partial<Declaration>): Declaration {
  const slug = part.slug ?? 'example-prices';
  return makeDeclaration({
    base_url: `https://${slug}.example-provider.com`,
    provider_name: `Provider of ${slug}`,
    ...part,
  });
}
