import type { Catalogue } from '../catalogue/database.ts';
import { countListings } from '../catalogue/read/counts.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../catalogue/transaction.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import type { Finding } from '../model/declaration.ts';
import { cutText } from '../model/text.ts';
import { buildFinding } from '../sources/findings.ts';
import { type ManifestFile, readManifests } from '../sources/manifest.ts';
import { type DeclarationOutcome, type Recording, recordInBatches } from './record-declarations.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildReport,
  IMPORT_STOPPED,
  type ImportOutcome,
  type ImportReport,
} from './report.ts';

const NOTHING = 'There was nothing to import. Give manifest files, or folders that hold some.';
const ALL_REFUSED = 'Every file was refused. Fix what the findings say and run the same command again.';
const FIX_AND_REPEAT =
  'Fix what was refused and run the same command again: importing the other files twice changes nothing.';

/** Longest part of an address that a message quotes, in UTF-16 units. */
const ADDRESS_LENGTH = 200;

interface ManifestImportOptions {
  allowPrivateNetworks: boolean;
  now: () => Date;
  signal: AbortSignal;
}

/**
 * Imports manifest files and folders of them. All are read before anything is recorded. A broken one is refused as a
 * whole, and the others are imported. Throws `bad_input` for a path that does not exist, before anything is recorded.
 */
export async function importManifests(
  catalogue: Catalogue,
  paths: readonly string[],
  { allowPrivateNetworks, now, signal }: ManifestImportOptions,
): Promise<ImportReport> {
  const started = now();
  const before = await getRevision(catalogue);
  const read: ManifestFile[] = [];
  for await (const file of readManifests(paths, { allowPrivateNetworks, now: started.toISOString() })) read.push(file);
  const files = read.filter(isFile);
  const declarations = files.flatMap(({ declaration }) => declaration ?? []);
  const recording = await recordInBatches(catalogue, declarations, { now, signal });
  const findings = [
    ...read.flatMap((file) => file.findings),
    ...buildFailureFindings(recording, true),
    ...(await Promise.all(recording.recorded.map((entry) => listSlugFindings(catalogue, entry)))).flat(),
  ];
  await recordFileFindings(catalogue, files, findings, now());
  const broken = files.filter(({ declaration }) => declaration === undefined);
  const refused = broken.length + recording.failed.length;
  const report = {
    feed: null,
    revision: { before, after: await getRevision(catalogue) },
    items: { received: files.length, taken: recording.recorded.length, duplicates: 0, refused },
    outcomes: [...buildOutcomes(recording, true), ...broken.map(buildRefusal)],
    findings,
    took_ms: now().getTime() - started.getTime(),
  };
  return buildReport(report, {
    shortfall: findShortfall(recording, { received: files.length, broken: broken.length }),
    advice: refused > 0 ? FIX_AND_REPEAT : null,
  });
}

function findShortfall({ left }: Recording, { received, broken }: { received: number; broken: number }): string | null {
  if (left > 0) return IMPORT_STOPPED;
  if (received === 0) return NOTHING;
  return broken === received ? ALL_REFUSED : null;
}

/** Lists findings for slugs that are not available. The listing is imported, but the author of the manifest should know. */
async function listSlugFindings(
  catalogue: Catalogue,
  { declaration, slug, id }: DeclarationOutcome,
): Promise<Finding[]> {
  const { slug: wanted, source } = declaration;
  if (wanted === null || wanted === slug) return [];
  const owner = await findListing(catalogue, { slug: wanted });
  const [code, message] =
    owner && owner.id !== id
      ? ([
          'slug_taken',
          `the slug ${wanted} belongs to ${cutText(owner.base_url, ADDRESS_LENGTH)}, so this listing is ${slug}.`,
        ] as const)
      : ([
          'slug_kept',
          `this listing was ${slug} before the manifest asked for ${wanted}, and a slug never changes.`,
        ] as const);
  return [buildFinding('noted', code, source.name, `${source.name}: ${message}`)];
}

/** Replaces the findings of the last import of these files. */
async function recordFileFindings(
  catalogue: Catalogue,
  files: readonly ManifestFile[],
  findings: readonly Finding[],
  at: Date,
): Promise<void> {
  const byFile = Map.groupBy(findings, ({ item }) => item);
  await writeCatalogue(catalogue, at.toISOString(), async (writing) => {
    for (const { name } of files) await recordFindings(writing, name, byFile.get(name) ?? []);
  });
}

function buildRefusal({ name }: ManifestFile): ImportOutcome {
  return { outcome: 'refused', slug: null, id: null, title: null, base_url: null, file: name };
}

/** Returns whether an entry is a file. An empty folder comes as an entry with only a note. */
function isFile({ declaration, findings }: ManifestFile): boolean {
  return declaration !== undefined || findings.some(({ severity }) => severity === 'refused');
}

/**
 * Imports the manifests of a folder into a catalogue without listings. Returns the report; undefined, and does nothing,
 * if the catalogue already has listings. Throws `bad_input` if there is no such folder.
 */
export async function seedCatalogue(
  catalogue: Catalogue,
  folder: string,
  now: () => Date = () => new Date(),
): Promise<ImportReport | undefined> {
  const { live, held, delisted } = await countListings(catalogue);
  if (live + held + delisted > 0) return undefined;
  const signal = new AbortController().signal;
  return importManifests(catalogue, [folder], { allowPrivateNetworks: false, now, signal });
}
