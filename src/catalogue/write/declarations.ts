import { getAuthority } from '../../evidence/authority.ts';
import { keepWords } from '../../evidence/declarations.ts';
import { listPossibleSlugs } from '../../evidence/slug.ts';
import type { Declaration } from '../../model/declaration.ts';
import { getListingId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { getCanonicalBaseUrl } from '../../model/listing.ts';
import { type DeclarationSource, SOURCES } from '../../model/source.ts';
import { type Catalogue, cutRows, insertRows } from '../database.ts';
import { formatDeclaration, listDeclared } from '../read/declarations.ts';
import { findDelisting } from '../read/delistings.ts';
import type { ListingIdentity } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { type Publication, publishListings } from './publication.ts';

/** The outcome of recording one declaration. `held`: on record, but not live, because it has no price. */
export type RecordOutcome = 'added' | 'changed' | 'unchanged' | 'held' | 'delisted';

/** The listing of a declaration that was recorded. */
export interface RecordedOutcome {
  readonly identity: ListingIdentity;
  readonly outcome: RecordOutcome;
}

/** Facts recorded with declarations besides their sources. */
export interface RecordingFacts {
  readonly evidence?: JsonObject | undefined;
  /** Time at which the sources were read, the same for a whole import. */
  readonly heardAt?: string;
}

/** Most declarations recorded at a time, each of another listing. */
const RECORDED_AT_ONCE = 100;

/**
 * Records declarations, each in place of the earlier one of its source and listing, and publishes the listings. `heardAt` is the
 * time of reading, ISO 8601 UTC, by default the time of the write. Repeating a declaration changes nothing. Imports never relist:
 * a delisted listing keeps its tombstone (outcome `delisted`), and an address whose provider wants no listing gets one.
 * `evidence` is recorded with the changes. Returns the outcomes in the order of the declarations.
 */
export async function recordDeclarations(
  writing: Writing,
  declarations: readonly Declaration[],
  { evidence, heardAt = writing.at }: RecordingFacts = {},
): Promise<RecordedOutcome[]> {
  const outcomes: RecordedOutcome[] = [];
  for (let left = [...declarations]; left.length > 0; ) {
    const batch = takeDifferent(left);
    left = left.slice(batch.length);
    outcomes.push(...(await recordBatch(writing, batch, { evidence, heardAt })));
  }
  return outcomes;
}

/** Returns the first declarations, up to the second one of the same listing. */
function takeDifferent(declarations: readonly Declaration[]): Declaration[] {
  const ids = new Set<string>();
  const taken: Declaration[] = [];
  for (const declaration of declarations.slice(0, RECORDED_AT_ONCE)) {
    const id = getListingId(declaration.base_url);
    if (ids.has(id)) break;
    ids.add(id);
    taken.push(declaration);
  }
  return taken;
}

async function recordBatch(
  writing: Writing,
  declarations: readonly Declaration[],
  { evidence, heardAt }: Required<Pick<RecordingFacts, 'heardAt'>> & RecordingFacts,
): Promise<RecordedOutcome[]> {
  const { catalogue, at } = writing;
  const { query } = catalogue;
  const ids = declarations.map(({ base_url }) => getListingId(base_url));
  const known = new Map(
    (await query.selectFrom('listings').select(['id', 'slug', 'base_url']).where('id', 'in', ids).execute()).map(
      (identity) => [identity.id, identity],
    ),
  );
  const created = await createIdentities(
    catalogue,
    declarations.filter(({ base_url }) => !known.has(getListingId(base_url))),
  );
  const identities = new Map([...known, ...created]);
  const stored = await query
    .selectFrom('declarations')
    .select(['listing_id', 'kind', 'source', 'document', 'withdrawn_at', 'heard_at'])
    .where('listing_id', 'in', ids)
    .execute();
  const recorded = new Map(stored.map((row) => [getDeclarationKey(row), row]));
  const rows = declarations.map((declaration) => {
    const { kind, name } = declaration.source;
    const listing_id = getListingId(declaration.base_url);
    const before = recorded.get(getDeclarationKey({ listing_id, kind, source: name }));
    const document = formatNext(declaration, before?.document, heardAt);
    // A feed keeps its time among feeds while it has the listing; the time of all other sources is that of their last reading.
    const isKept = SOURCES[kind].speaker === 'hearsay' && before?.withdrawn_at === null;
    return {
      listing_id,
      kind,
      source: name,
      document,
      withdrawn_at: null,
      heard_at: isKept ? before.heard_at : heardAt,
    };
  });
  const isNew = (row: (typeof rows)[number]) => {
    const before = recorded.get(getDeclarationKey(row));
    return before?.withdrawn_at !== null || before.document !== row.document;
  };
  const changed = rows.filter((row) => isNew(row) || recorded.get(getDeclarationKey(row))?.heard_at !== row.heard_at);
  for (const some of cutRows(changed)) {
    await query
      .insertInto('declarations')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['listing_id', 'kind', 'source']).doUpdateSet(({ ref }) => ({
          withdrawn_at: null,
          document: ref('excluded.document'),
          heard_at: ref('excluded.heard_at'),
        })),
      )
      .execute();
  }
  await makeDue(
    catalogue,
    declarations.filter((_, index) => isNew(rows[index] as (typeof rows)[number])),
    at,
  );
  const publications: Publication[] = [];
  for (const { listing_id, kind } of changed) {
    const identity = identities.get(listing_id) as ListingIdentity;
    const basis = evidence ?? (known.has(listing_id) ? undefined : await findStatement(catalogue, identity.base_url));
    publications.push({ identity, cause: `declared_by_${kind}`, evidence: basis });
  }
  const published = await publishListings(writing, publications);
  const states = new Map(
    (await query.selectFrom('listings').select(['id', 'state']).where('id', 'in', ids).execute()).map((row) => [
      row.id,
      row.state,
    ]),
  );
  return ids.map((id) => {
    const state = states.get(id);
    const ofLive = known.has(id) ? (published.has(id) ? 'changed' : 'unchanged') : 'added';
    return {
      identity: identities.get(id) as ListingIdentity,
      outcome: state === 'delisted' || state === 'held' ? state : ofLive,
    };
  });
}

function getDeclarationKey({ listing_id, kind, source }: { listing_id: string; kind: string; source: string }): string {
  return JSON.stringify([listing_id, kind, source]);
}

/** Returns the stored form of a declaration that replaces an earlier one. Hearsay keeps earlier words. */
function formatNext(declaration: Declaration, before: string | undefined, heardAt: string): string {
  const document = formatDeclaration(declaration);
  const { speaker } = SOURCES[declaration.source.kind];
  if (before === undefined || before === document || speaker !== 'hearsay') return document;
  return formatDeclaration(keepWords(declaration, JSON.parse(before), heardAt));
}

/**
 * Makes the routes of listings due at once if their host declares something new, since a valid 402 may put a removed listing
 * back.
 */
async function makeDue({ query }: Catalogue, said: readonly Declaration[], at: string): Promise<void> {
  const ids = said
    .filter(({ source, base_url }) => getAuthority(source, base_url) === 'host')
    .map(({ base_url }) => getListingId(base_url));
  if (ids.length === 0) return;
  await query.updateTable('probe_targets').set({ due_at: at }).where('listing_id', 'in', ids).execute();
}

/**
 * Withdraws the declarations of a source for each listing whose id is not in `stillHeld`. Call it after the whole source was
 * read. Returns the slugs of listings of which readers see a change. `cause` is the reason code of those changes.
 */
export async function withdrawDeclarations(
  writing: Writing,
  source: Pick<DeclarationSource, 'kind' | 'name'>,
  stillHeld: ReadonlySet<string>,
  { cause = 'absent_from_feed', evidence }: { cause?: string; evidence?: JsonObject | undefined } = {},
): Promise<string[]> {
  const { catalogue, at } = writing;
  const gone = (await listDeclared(catalogue, source)).filter(({ id }) => !stillHeld.has(id));
  const slugs: string[] = [];
  for (let start = 0; start < gone.length; start += RECORDED_AT_ONCE) {
    const some = gone.slice(start, start + RECORDED_AT_ONCE);
    const ids = some.map(({ id }) => id);
    await catalogue.query
      .updateTable('declarations')
      .set({ withdrawn_at: at })
      .where('listing_id', 'in', ids)
      .where('kind', '=', source.kind)
      .where('source', '=', source.name)
      .execute();
    const published = await publishListings(
      writing,
      some.map((identity) => ({ identity, cause, evidence })),
    );
    slugs.push(...some.filter(({ id }) => published.has(id)).map(({ slug }) => slug));
  }
  return slugs;
}

/** Finds the evidence for a listing that starts as a tombstone: the statement of the provider who wants no listing. */
async function findStatement(catalogue: Catalogue, baseUrl: string): Promise<JsonObject | undefined> {
  const { source, at } = (await findDelisting(catalogue, baseUrl, 'provider')) ?? { source: null };
  return source === null ? undefined : { statement: { source, read_at: at } };
}

/** Creates the rows of new listings, each with a slug of its own. Returns their identities by id. */
async function createIdentities(
  catalogue: Catalogue,
  declarations: readonly Declaration[],
): Promise<Map<string, ListingIdentity>> {
  if (declarations.length === 0) return new Map();
  const wishes = declarations.map(({ slug, service_name, base_url }) => {
    const identity = { id: getListingId(base_url), base_url: getCanonicalBaseUrl(base_url) };
    return { ...identity, slugs: listPossibleSlugs({ ...identity, slug, service_name }) };
  });
  // No listing's row is ever removed, so a slug is never used twice.
  const rows = await catalogue.query
    .selectFrom('listings')
    .select('slug')
    .where(
      'slug',
      'in',
      wishes.flatMap(({ slugs }) => slugs),
    )
    .execute();
  const taken = new Set(rows.map(({ slug }) => slug));
  const identities = new Map<string, ListingIdentity>();
  for (const { id, base_url, slugs } of wishes) {
    const slug = slugs.find((one) => !taken.has(one)) ?? id;
    taken.add(slug);
    identities.set(id, { id, slug, base_url });
  }
  await insertRows(
    catalogue,
    'listings',
    [...identities.values()].map((identity) => ({
      ...identity,
      origin: new URL(identity.base_url).origin,
      ...({ state: 'held', verified: 0, was_live: 0, routes: 0, revision: 0, document: '{}' } as const),
    })),
  );
  return identities;
}
