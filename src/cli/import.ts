import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { ServiceError } from '../errors.ts';
import { importDocument } from '../importing/document.ts';
import { importFeed } from '../importing/feed.ts';
import { importManifests } from '../importing/manifests.ts';
import { importProvider } from '../importing/provider.ts';
import { cutText, TEXT_LIMITS } from '../model/text.ts';
import { BAZAAR, KNOWN_FEEDS } from '../sources/bazaar/feed.ts';
import { cleanText } from '../sources/provider-text.ts';
import { isWebAddress } from '../sources/source-name.ts';
import { type Command, defineCommand } from './command.ts';
import { type ImportResult, renderReport } from './import-report.ts';
import { withCatalogueCopy, withWritableCatalogue } from './open-catalogue.ts';
import { openProgress } from './terminal/progress.ts';

/** Longest part of a path that a message names, in UTF-16 units. */
const PATH_LENGTH = 200;

export const importSources: Command = defineCommand({
  summary: 'Put listings into the catalogue: from manifests, a Bazaar feed, or the provider itself',
  details:
    'Manifests are YAML files with one listing each; of a folder, all *.yaml files are read. A broken one is ' +
    'refused as a whole, with file and line, and the others are imported. Importing the same again changes ' +
    'nothing.\n\n' +
    'A feed is pulled page by page to its end and then recorded; listings that it no longer has are no longer ' +
    'advertised by it. After a stop or a crash the same command begins again. Everything that is refused is kept ' +
    'with its reason. A saved feed that is older than what is on record changes nothing that was seen later.\n\n' +
    "A provider's own document is OpenAPI 3 (JSON or YAML) whose payable operations have x-payment-info, or a " +
    '/.well-known/x402 file; the format is recognised, and an OpenAPI document that the file names is read, too. ' +
    'Of a host alone the usual places are tried: its _x402 TXT records, /.well-known/x402, ' +
    '/.well-known/x402.json and /openapi.json. Each payable operation becomes a route of the listing at ' +
    "the document's server address. Its content is a claim: until a probe sees the 402, no network counts as " +
    'advertised. If it is imported again, listings that it no longer has lose its declaration.\n\n' +
    'A provider states its own requests in /.well-known/agent-payable.json on its host: list me, correct me, ' +
    'remove me, put me back, and replies to cautions. A probe of a listing that you name reads that file at once, ' +
    'a scheduled probe if the last reading is older than an hour. --provider reads it now, so that a host without ' +
    'listings can be added. It counts only for its own host.\n\n' +
    'With --dry-run all of this happens to a copy of the catalogue, which is then removed: the report says what ' +
    'would change, and nothing is written.\n\n' +
    'Items of a feed or document that are refused, with a reason, count as done, even if all are refused: the exit ' +
    'code is 0. It is 1 if every manifest is refused, a source cannot be read or has nothing to import, its end is ' +
    'not reached, or a listing cannot be recorded.',
  arguments: [['[path...]', 'manifest files, and folders of them']],
  options: [
    ['--feed <name>', `the feed of a facilitator by its name: ${Object.keys(KNOWN_FEEDS).join(', ')}`],
    ['--bazaar <url or file>', 'a Bazaar feed: its address (https://…/discovery/resources), or a saved answer'],
    ['--openapi <url or file>', "a provider's document: OpenAPI with payment information, or a /.well-known/x402 file"],
    ['--provider <host>', 'what the provider of a host states in its file'],
    ['--base-url <url>', 'with --openapi: list everything under this address, such as the one in a feed'],
    ['--dry-run', 'say what would change, and write nothing'],
    ['--source <name>', 'with a file: its name on record, for a file that moves (or the address it was saved from)'],
  ],
  examples: [
    ['import data/listings', 'every manifest of the folder'],
    ['import mine.yaml --dry-run', 'what a manifest would change'],
    ['import --bazaar https://api.example.com/discovery/resources', 'a feed, all its pages'],
    ['import --feed cdp', 'the same for a facilitator whose address is known'],
    [
      'import --openapi https://api.example.com',
      'what a host says in /.well-known/x402, a TXT record or /openapi.json',
    ],
    ['import --openapi https://api.example.com/openapi.json', 'what a provider says of its own API'],
    ['import --openapi openapi.yaml --base-url https://api.example.com', 'a file that does not say where its API is'],
    ['import --provider https://api.example.com', 'what a provider asks for its own listings'],
  ],
  input: z
    .object({
      path: z.array(z.string().min(1, 'the name of a file or folder')).default([]),
      feed: z.enum(Object.keys(KNOWN_FEEDS), `one of ${Object.keys(KNOWN_FEEDS).join(', ')}`).optional(),
      bazaar: z.string().min(1, 'an address or a file').optional(),
      openapi: z.string().min(1, 'an address or a file').optional(),
      provider: z.string().min(1, 'a host').optional(),
      baseUrl: z.string().min(1, 'an address').optional(),
      dryRun: z.boolean().default(false),
      source: z
        .string()
        .refine(isPlainName, `one line of plain text, ${TEXT_LIMITS.title} characters at most`)
        .optional(),
    })
    .refine(
      ({ path, feed, bazaar, openapi, provider }) =>
        [path.length > 0, feed, bazaar, openapi, provider].filter((source) => source !== undefined && source !== false)
          .length === 1,
      'Give manifests, or one of --feed, --bazaar, --openapi and --provider.',
    )
    .refine(({ openapi, baseUrl }) => baseUrl === undefined || openapi !== undefined, '--base-url goes with --openapi.')
    .refine(({ source, bazaar, openapi }) => {
      const document = bazaar ?? openapi;
      return source === undefined || (document !== undefined && !isWebAddress(document));
    }, '--source goes with a file given to --bazaar or --openapi.'),
  run: async ({ path, feed, openapi, provider, baseUrl, source, dryRun, ...given }, context): Promise<ImportResult> => {
    const bazaar = feed === undefined ? given.bazaar : KNOWN_FEEDS[feed];
    const document = bazaar ?? openapi;
    checkPaths(document === undefined || isWebAddress(document) ? path : [document]);
    const importInto = (catalogue: Catalogue) => {
      const config = context.getConfig();
      const { now, signal } = context;
      if (bazaar !== undefined)
        return importFeed(catalogue, bazaar, {
          format: BAZAAR,
          config,
          now,
          signal,
          source,
          openProgress: (label, unit) => openProgress(context.stderr, label, unit),
        });
      if (openapi !== undefined) return importDocument(catalogue, openapi, { config, now, signal, baseUrl, source });
      if (provider !== undefined) return importProvider(catalogue, provider, { config, now, signal });
      return importManifests(catalogue, path, { allowPrivateNetworks: config.allowPrivateNetworks, now, signal });
    };
    const report = dryRun
      ? await withCatalogueCopy(context, importInto)
      : await withWritableCatalogue(context, { create: true }, importInto);
    return { ...report, dry_run: dryRun };
  },
  render: renderReport,
  isDone: ({ complete }) => complete,
});

/** Returns whether readers would see a name as it is given, without cleaning or cutting. */
function isPlainName(name: string): boolean {
  return name !== '' && cleanText(name, 'title') === name;
}

/** Throws `bad_input` (`no_such_file`) for a path that does not exist, before a catalogue is created for nothing. */
function checkPaths(paths: readonly string[]): void {
  const missing = paths.find((path) => !existsSync(path));
  if (missing === undefined) return;
  throw new ServiceError('bad_input', `There is no file or folder ${cutText(missing, PATH_LENGTH)}.`, {
    hint: 'Give manifests, folders that hold *.yaml files, or with an option a file or an address that begins with https://.',
    reason: 'no_such_file',
  });
}
