import { buildSlug } from '../evidence/slug.ts';
import type { Declaration, DeclarationSource } from '../model/declaration.ts';
import { getListingId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import { findDelisting } from './delisting-record.ts';
import type { ListingIdentity } from './listings.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/** The outcome of recording one declaration. `held`: on record, but not live, because it has no price. */
export type RecordOutcome = 'added' | 'changed' | 'unchanged' | 'held' | 'delisted';

/**
 * Records what a source declares of a listing, in place of what it declared before, and publishes the listing. The same
 * declaration twice changes nothing. Imports never relist: a delisted listing keeps its tombstone (outcome `delisted`), and
 * an address whose provider wants no listing gets one. `evidence` is recorded with the changes.
 */
export function recordDeclaration(
  writing: Writing,
  declaration: Declaration,
  evidence?: JsonObject,
): { identity: ListingIdentity; outcome: RecordOutcome } {
  const { catalogue } = writing;
  const known = findIdentity(catalogue, declaration.base_url);
  const identity = known ?? createIdentity(catalogue, declaration);
  const { kind, name } = declaration.source;
  if (isDeclared(catalogue, declaration)) {
    return { identity, outcome: getOutcome(catalogue, identity, { isNew: false, changed: false }) };
  }
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('declarations')
      .values({
        listing_id: identity.id,
        kind,
        source: name,
        withdrawn_at: null,
        document: formatDeclaration(declaration),
      })
      .onConflict((conflict) =>
        conflict.columns(['listing_id', 'kind', 'source']).doUpdateSet(({ ref }) => ({
          withdrawn_at: null,
          document: ref('excluded.document'),
        })),
      ),
  );
  const changed = publishListing(writing, identity, `declared_by_${kind}`, {
    evidence: evidence ?? (known ? undefined : findStatement(catalogue, identity.base_url)),
  });
  return { identity, outcome: getOutcome(catalogue, identity, { isNew: !known, changed }) };
}

/**
 * Withdraws what a source declared of each listing whose id is not in `stillHeld`. To be called after all of the source was
 * read. Returns the slugs of listings that readers see changed. `cause` is the reason code of those changes.
 */
export function withdrawDeclarations(
  writing: Writing,
  source: Pick<DeclarationSource, 'kind' | 'name'>,
  stillHeld: ReadonlySet<string>,
  { cause = 'absent_from_feed', evidence }: { cause?: string; evidence?: JsonObject | undefined } = {},
): string[] {
  const { catalogue, at } = writing;
  return listDeclared(catalogue, source)
    .filter(({ id }) => !stillHeld.has(id))
    .filter((identity) => {
      runStatement(
        catalogue,
        catalogue.query
          .updateTable('declarations')
          .set({ withdrawn_at: at })
          .where('listing_id', '=', identity.id)
          .where('kind', '=', source.kind)
          .where('source', '=', source.name),
      );
      return publishListing(writing, identity, cause, { evidence });
    })
    .map(({ slug }) => slug);
}

function findIdentity(catalogue: Catalogue, baseUrl: string): ListingIdentity | undefined {
  return findRow(
    catalogue,
    catalogue.query
      .selectFrom('listings')
      .select(['id', 'slug', 'base_url'])
      .where('base_url', '=', getCanonicalBaseUrl(baseUrl)),
  );
}

/** Lists the listings that a source declares, without those it has withdrawn, by slug. */
export function listDeclared(
  catalogue: Catalogue,
  { kind, name }: Pick<DeclarationSource, 'kind' | 'name'>,
): ListingIdentity[] {
  return listRows(
    catalogue,
    catalogue.query
      .selectFrom('declarations')
      .innerJoin('listings', 'listings.id', 'declarations.listing_id')
      .where('kind', '=', kind)
      .where('source', '=', name)
      .where('withdrawn_at', 'is', null)
      .select(['listings.id', 'listings.slug', 'listings.base_url'])
      .orderBy('listings.slug'),
  );
}

/** Returns whether exactly this declaration is on record and not withdrawn. */
export function isDeclared(catalogue: Catalogue, declaration: Declaration): boolean {
  const { base_url, source } = declaration;
  const query = catalogue.query
    .selectFrom('declarations')
    .select('source')
    .where('listing_id', '=', getListingId(base_url))
    .where('kind', '=', source.kind)
    .where('source', '=', source.name)
    .where('document', '=', formatDeclaration(declaration))
    .where('withdrawn_at', 'is', null);
  return findRow(catalogue, query) !== undefined;
}

function formatDeclaration(declaration: Declaration): string {
  return JSON.stringify({ ...declaration, base_url: getCanonicalBaseUrl(declaration.base_url) });
}

/** Finds the evidence for a listing that begins as a tombstone: the statement of the provider who wants no listing. */
function findStatement(catalogue: Catalogue, baseUrl: string): JsonObject | undefined {
  const { source, at } = findDelisting(catalogue, baseUrl, 'provider') ?? { source: null };
  return source === null ? undefined : { statement: { source, read_at: at } };
}

function createIdentity(catalogue: Catalogue, declaration: Declaration): ListingIdentity {
  const base_url = getCanonicalBaseUrl(declaration.base_url);
  const id = getListingId(base_url);
  const { slug: wanted, service_name } = declaration;
  const slug = buildSlug({ slug: wanted, service_name, base_url, id }, (candidate) =>
    isSlugTaken(catalogue, candidate),
  );
  const identity = { id, slug, base_url };
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('listings')
      .values({ ...identity, state: 'held', verified: 0, revision: 0, document: '{}' }),
  );
  return identity;
}

/** No row of a listing is ever removed, so a slug is never used twice. */
function isSlugTaken(catalogue: Catalogue, slug: string): boolean {
  return findRow(catalogue, catalogue.query.selectFrom('listings').select('id').where('slug', '=', slug)) !== undefined;
}

function getOutcome(
  catalogue: Catalogue,
  { id }: ListingIdentity,
  { isNew, changed }: { isNew: boolean; changed: boolean },
): RecordOutcome {
  const row = findRow(catalogue, catalogue.query.selectFrom('listings').select('state').where('id', '=', id));
  if (row?.state === 'delisted') return 'delisted';
  if (row?.state === 'held') return 'held';
  if (isNew) return 'added';
  return changed ? 'changed' : 'unchanged';
}
