import { PATHS } from './links.ts';

/** An address that will be removed, with the times of the announcement and of the removal, ISO 8601 UTC. */
export interface Deprecation {
  readonly path: string;
  readonly announced_at: string;
  readonly gone_at: string;
  /** Path to use instead. */
  readonly successor: string;
}

/** Addresses that will be removed. Until then each answers as before, and announces its removal in headers. */
export const DEPRECATIONS: readonly Deprecation[] = [
  {
    path: PATHS.wellKnownServerCard,
    announced_at: '2026-11-22T00:00:00.000Z',
    gone_at: '2027-11-22T00:00:00.000Z',
    successor: PATHS.serverCard,
  },
];

/** Changes for clients of the service, newest first. */
export const CHANGELOG: readonly { readonly date: string; readonly changes: readonly string[] }[] = [
  {
    date: '2026-11-30',
    changes: [
      'A listing of which only others name routes is found by the price and the networks that it has as a whole, and no such route is shown as its call. /network/{key} and /verified have what /agent/list finds by the same filter.',
      '`host` finds listings whose address is a bare host with a query, and `host` with `path` takes the path below the base address, too.',
      'In /discovery, `maxTimeoutSeconds` is 86400 where a 402 asks for more than a day; 300 is for offers that name no time. A cursor of /discovery/search is one of its filters, too.',
      'Further pages of get_listing have `caution` where something speaks against the listing as a whole.',
      'A price range of which a 402 asked only a part is said to be partly declared, and a ceiling is shown as one in /compare.',
    ],
  },
  {
    date: '2026-11-29',
    changes: [
      'Changes have a `sentence` in /agent/changes and list_changes: what changed and why, in our own words. Feeds and pages say the same. It counts routes; in feeds and on pages the lines below it name them.',
      'For operators: `probe --json` has `statements` in place of `doors`. `copy` makes no folder, as `backup` makes none.',
    ],
  },
  {
    date: '2026-11-28',
    changes: [
      '`since` of /agent/changes and list_changes takes a date or a time, too: 2026-11-20. It was read as a revision before.',
      '/agent/compare is gone: the page /compare and `compare` of search_listings show the same. The page /market and its CSV files are gone; the tables `listing_days` and `rounds` in the file of the catalogue have their figures.',
      'There are no webhooks any more. `notify` in a provider’s file is answered by a finding that names the feed: /provider/{domain}.atom has what happens to the listings of a provider. /.well-known/webhook-keys.json is gone, and so are `webhook_off_since` of a listing and `webhook_key` in the file of the catalogue.',
      'The check of a provider no longer has `corrected` and `patch`: each fault has its place and the fix, and mostly an example to copy. These and the webhooks go two days after they came, without the months of notice that everything older gets.',
      'Buyers’ reports are gone, also two days after they came: `POST /reports`, and the link on the page of a listing. What probes see and paid calls prove is what counts. For operators `catalogue_buyer_reports`, the reports in `status` and `reported` of `verify --due --json` are gone, too.',
      'A submission has the states `problems`, `received`, `listed` and `refused`: a file that is not there is a problem, no longer `waiting_for_file`. `POST /submit/list` takes `url` alone; what `route`, `price` and `about` wrote, a provider writes into its file. Reports outlive a restart.',
      '/readyz has `pages` in place of `release`, and names what is missing of them `no_pages`. `status --json` and `check` of operators do the same.',
      'Coinbase’s own client gets an answer from all that it may ask without a key but the document of one bundle: POST /v2/x402/validate is POST /providers/check, /v2/x402/discovery/mcp and /discovery/mcp are /mcp, and /discovery/bundles and /discovery/supported, also at /supported, answer with empty lists. MCP takes `Accept: */*`.',
      'MCP: `initialize` and the server card have no icons.',
      '/agent/check and check_payment_terms without `method` take that of the route where only one is listed at the address, such as the tool in https://…/mcp#tool. Where several are, it is GET as before.',
    ],
  },
  {
    date: '2026-11-26',
    changes: [
      'Providers can list a host by themselves: on the pages from /submit on, or by `POST /submit/list` with `url`. The answer has `file`, what to put on the host, and `submission_url`, an address that nobody can guess: `POST` to it once the file is there, `GET` it for `state` (`waiting_for_file`, `problems`, `received`, `listed`, `refused`), `problems`, `history`, `listings` and `next`.',
      'Buyers whose payment brought nothing can say so: `POST /reports` with `transaction`, `method` and `url`, or by the link on the page of a listing. Nothing of it is shown. Where the chain has the payment, the route comes first in the next proofs.',
      'A provider can be told of its listings by a webhook that its file on its own host names (`notify` in /.well-known/agent-payable.json): /docs/providers says how. The key of these events is at /.well-known/webhook-keys.json. /agent/listings/{slug} has `webhook_off_since` where a webhook took no events. The file of the catalogue has the key in `webhook_key` of `catalogue`.',
      '/provider/{domain}.atom is the feed of all listings of one provider.',
      'Listings in lists have `tagline_is_ours` where this service made the tagline, so that nobody quotes it as the provider’s. The feed of changes no longer has entries for terms that are only declared; /agent/changes has them as before.',
      'Providers can have their API checked: on the page /submit, by `POST /providers/check`, and by the MCP tool `check_provider`. Each line has `check`, `passed`, `severity`, `expected`, `actual` and `detail`, and of what is wrong a code, its place, the fix, and where possible the corrected JSON and a JSON Patch.',
      'MCP: the text of an answer is the whole answer as JSON, the same as structuredContent. Results of search_listings have longer words, and `example` where the request is short. Values may come in another JSON type: 0.01 for "0.01", "5" for 5.',
      '`query` stands for `q`, and `max_price_usdc` takes `$0.01` and `1 cent`, everywhere. /agent/list has 10 listings a page with `q`, 100 without. /agent/listings/{slug} takes `q`: its ten routes that fit best come first. `route` of a search result has `example`.',
      'Coinbase’s own client is answered: under /v2/x402/discovery, with `maxUsdPrice`, `urlSubstring`, `asset`, `tags`, `curatedOnly` (settlement-verified) and repeated `extensions`, without `query`, and with /discovery/merchant. Verified resources are `curated`.',
      'A title that names nothing ("Home", "402", a framework) is not used: the routes give it, where they all say the same, else it is the host. A `tagline` that no source gives is what the routes say first. A document of several hosts names its provider (`provider_name`), and each host by the name that its routes give it. Names of entries and summaries of operations come before the `description` of their routes. A `category` that no source names is inferred from what routes return, too.',
      'With `explain=true`, `lowered` of /agent/list names all that lowers a result: another word in the place of the one asked for, words in fields that tell little, long texts, a better route that the filters leave out, and in the order of relevance what verification and reliability would add.',
      'With `q`, /agent/list and search_listings show three listings of one provider on a page, and name its others in `folded`, by their slugs. `total` counts them, and no other page has them. With `provider` or `host`, and without `q`, nothing is folded.',
      '`marked` of a listing says that it is a demo, a host for tests or a token sale, and why. Such listings come after others that fit as well. In the file of the catalogue it is `marked` of `listings`.',
      'Routes of a listing have `folded_under` where another route stands for them: the template that they fit, or one of twenty and more with the same description. They come last among the routes. Nothing is left out.',
      '`network` of /agent/list finds listings whose sources declare the network, too, and `networks` names it: `declared_networks` says which of them no dated evidence shows. The filter `seen` of /agent/list, of the search page and of search_listings keeps what dated evidence shows, or what is only declared. In the file of the catalogue, `networks` of `listings` is the same, and `seen_networks` has those that dated evidence shows. Entries of `x-networks` and of `network_entries` have `declared` there.',
      'No filter is applied because of words. /agent/list and search_listings have `suggested` in place of `understood`: parameters that the words of `q` seem to name, to add or not. `filters` has `q` as it was sent. search_listings takes `host`. POST /search keeps to a price that its words name.',
      'A product that is listed at several addresses has up to three rows of an answer to `q`; its other listings are in `folded`, as those of one provider are, and `total` and `facets` count them. `same_product` is in the document of one listing alone.',
      '/agent/list takes no `explain`, and listings have no `why`. `unmatched` still names the words that no listing has.',
      '`revision` in /agent/listings/{slug} is that of the latest change of the listing; the header `X-Catalogue-Revision` names that of the catalogue. `primary_network` is the network that a listing is shown under. Documents for programs come as gzip or as they are, no longer as brotli.',
      'In the file of the catalogue, `documents` and `routes` hold what /agent/listings/{slug} says; of a removed listing `documents` has `tombstone`.',
    ],
  },
  {
    date: '2026-11-25',
    changes: [
      'With `explain=true`, /agent/list says of each answer to `q` which words it has, which are missing, and what else counts against it. `notice` names the words that no listing mentions.',
      '/agent/listings/{slug} has 500 routes at most, or `limit`: `routes_total` says how many there are, `next_cursor` where the next ones begin. /api/{slug}.md and the page have 500 as well; ?page=2 of the Markdown has the next ones.',
      'Preflights and assets that are not there count in the rate limit. An IPv6 /56 may ask four times as often as one client, a /48 sixteen times.',
      'Receipts show the request of a paid call whole only where the record of its route has all of its values. Otherwise types stand in their place (`values_withheld`), and `request` of the proof in /agent/listings/{slug} is null.',
    ],
  },
  {
    date: '2026-11-24',
    changes: [
      'The score of reliability is in whole points everywhere. That only its points moved, or that a listing was seen again, raises the revision and is no entry of /agent/changes any more: `scored` comes with another band, and `seen` no longer comes.',
      'Cursors of /agent/changes know their history, and `since` takes them, too. A cursor of a history that was replaced is answered with 410 (`history_replaced`, before 400 `other_log`): start again with `since=0`. One that another server gave, which was ahead, is answered with 503 (`since_ahead`, before 400) and `Retry-After`.',
      'Each fact of a listing comes from one order of sources: what was paid, what was seen in a 402, the words of the host, those of the operator, what others say. `sources` of /agent/listings/{slug} says whose word each source is (`authority`), `said_by` of the listing and of each route which source says what.',
      'A route that only others name is `set_aside` once another one was seen or the provider names its routes: `endpoints_count`, prices, price filters and /discovery/resources leave it out.',
      'The score is of method version 3: once a route gave a valid 402, only such routes count.',
      'A record that was only declared proves no other terms wrong: /agent/check then says `mismatch` with severity `notice` instead of `danger`, and names both.',
      'The caution `payee_announced`: a new payee that the document of the provider named a day before. No offer is safe until it was seen for three days.',
    ],
  },
  {
    date: '2026-11-23',
    changes: [
      'A 402 that two honest readers would read differently (a key twice, two payees or amounts for one offer, an amount that is not plain digits, a body that contradicts the header) is danger: /agent/check and check_payment_terms warn of it as `reads_differently` with its `places`, the caution `reads_differently` holds for routes that ask so, and nothing here pays it.',
      'The caution `imitates_name` protects the listing that is better known for a name: a settlement-verified one first, then an established one, then one whose registered domain is the name. It also finds names under another suffix, with lookalike letters, hyphens or words such as Pro, and never speaks against a listing that had the name first.',
      'Each host on platforms such as koyeb.app, modal.run and zuplo.dev counts as a domain of its own in `domain` and in /provider/{domain}.',
      'Where a verified route asks another price than was verified, that price is shown beside it: `verified_price_usdc` in /agent/list, /agent/compare and /agent/check, `verified_amount` in /discovery/resources.',
      'Proven routes are paid for again on days chosen at random, so that a seller who stops delivering is found before its proof is old.',
      'Routes whose price is a ceiling (scheme upto) are paid and verified as well. Their proofs and receipts have `amount`, what the seller took, and `ceiling`, the most that was signed for.',
      'While a server cannot follow the catalogue, each answer says with X-Catalogue-Age for how many seconds.',
      'Each of the listings that are one product at several addresses names the others: `same_product` in /agent/listings/{slug} and in get_listing of MCP, and a line on the page.',
      'A title that no source gives is made from the host: "Weather Now" for api.weather-now.dev. Where no source has a line that says something, `tagline` names what the routes do.',
      'Paid tools of MCP servers are listed: a route `POST <endpoint>#<tool>`, with the arguments as its body. They are probed and paid inside the tool call, as x402 has it for MCP; offers of theirs need `mcp`. /discovery/resources has them with `type` mcp.',
      'Prices of the scheme upto are shown as what they are, the most that a call may cost: "up to 0.05". /agent/list marks them with `price_min_is_ceiling` and `price_max_is_ceiling`, offers with `is_ceiling`.',
      'Every offer says in `needs` what a client must be able to do to pay it: version, network family, scheme, transfer method, required extensions. /agent/list, /agent/check, search_listings, get_listing and check_payment_terms take `can`, what your client can do: lists hold what it can pay, and checks say what it lacks (`can_pay`, `missing`). The file of the catalogue has it in the column `needs` of `offers`.',
      'Pages of providers, /provider/{domain}, and of networks, /network/{network}. The file of the catalogue has `domain`, the registered domain of the host of each listing.',
      'Each listing and each category has an Atom feed of its own: /api/{slug}.atom and /category/{category}.atom. /badge/{slug}.svg is a badge for the own site of a provider.',
      '/agent/compare shows two to four routes side by side, by `routes`, once for each: slug, method and path. /compare is the same as a page. MCP: search_listings takes them as `compare`.',
      'Problem documents with a status from 500 on name the request (`request_id`), and so do MCP tools that failed through our fault. An id sent in X-Request-Id is kept and sent back.',
      'Listings carry `latency`, how long their valid answers to probes took (median and 95 %, in milliseconds), and so does `probe` of each route. The file of the catalogue has it in columns.',
      'Lists can be sorted by `latency` (fastest first) and by `proof` (latest paid verification first).',
      'Agent discovery (ARD 0.91): /.well-known/ard.json, POST /search and GET /agents/{identifier}, and a skill file under /.well-known/agent-skills/. /.well-known/ai-catalog.json stays.',
      'MCP: search_listings with q answers with routes, each with its method, url and input; these are the arguments of check_payment_terms. Fields that repeated the listing are gone: get_listing has them. Answers are in structuredContent, and the text beside it is one line with what decides.',
      'MCP: get_listing takes q and puts the routes first that fit. check_payment_terms, like /agent/check, takes a url without terms and says what its 402 should ask (verdict expected, or unseen).',
      '`input` of a route in /agent/list says what it takes, by place and with types.',
      '/agent/list?facets=true counts what matches by category, network, verification, reliability band and price.',
      'A search finds routes: each listing found by words carries `route`, the one that answers most, with its price on each network, inputs, outputs and cautions. `match` says how much of the request it answers, and `notice` that nothing fits.',
      'Filters by price, network and verification hold for one and the same route: with words, for the one that is shown.',
      'A search shows a product that is listed at several addresses once: `same_product` names the other listings. /agent/list without `q` has them all.',
      '/agent/list takes `host` and `path`. A search for an address that something is listed at sets them.',
      'A search understands filters in words, such as "under 1 cent" or "on Solana", and names them in `understood`. Between double quotes words are only searched for.',
    ],
  },
  {
    date: '2026-11-22',
    changes: [
      '/docs/using says in five minutes how the API is used.',
      'The whole catalogue can be downloaded as a SQLite file: /catalogue.sqlite, with its SHA-256 at /catalogue.sqlite.sha256. /docs/data shows what is in it.',
      'A change is in every document some milliseconds after it was written, at once in all of them.',
      'Pages and pictures count against the rate limit, as documents always did. A search counts 2, a document of the whole catalogue or a picture 10, stylesheets and health nothing.',
      'Every answer can be read by pages of any site, and carries X-Request-Id, which names it in our log.',
      'Documents are sent in brotli where a client takes it. Those under 1 kB are sent as they are.',
      'Of requests that are sent in one go over one connection, the first 16 are answered, one after the other; then the connection is closed. A client may have 100 connections open.',
      'An answer that nobody reads for 30 seconds is cut off, and any answer after 3 minutes.',
    ],
  },
];

/** Time between the announcement of a removal and the removal, in months. */
export const NOTICE_MONTHS = 12;
