import { DEFAULT_NETWORK, FAMILY_WORDS, NETWORKS, nameNetworks } from './network.ts';

/** A code of a finding: its meaning, the way to fix it, and a piece of the corrected document to copy. */
interface CodeEntry {
  readonly meaning: string;
  readonly fix: string;
  readonly example?: string;
}

interface Section {
  readonly title: string;
  readonly codes: Readonly<Record<string, CodeEntry>>;
}

const USDC_ON_BASE = '"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"';

/** Form of an account on each network: `0x and 40 hexadecimal digits on Base, …`. */
const ACCOUNTS = Object.values(NETWORKS)
  .map(({ label, family }) => `${FAMILY_WORDS[family].account} on ${label}`)
  .join(', ');

const PAYEE = '"payTo": "0x1111111111111111111111111111111111111abc"';
const OFFER = `{"scheme": "exact", "network": "eip155:8453", "amount": "10000", ${USDC_ON_BASE}, ${PAYEE}, "maxTimeoutSeconds": 60}`;
const PRICE =
  '"x-payment-info": {"protocols": ["x402"], "price": {"mode": "fixed", "currency": "USD", "amount": "0.01"}}';
const HEADER = 'PAYMENT-REQUIRED: base64({"x402Version": 2, "resource": {"url": "https://…"}, "accepts": [{…}]})';

/**
 * Every code that reading a source or a live 402, or an import, can report, by subject. The page `/docs/providers/findings` is
 * made from this table.
 */
export const FINDING_SECTIONS = {
  addresses: {
    title: 'Addresses',
    codes: {
      bad_url: {
        meaning: 'The address is not a valid URL.',
        fix: 'Write the whole address: scheme, host and path, without spaces.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      not_https: {
        meaning: 'The address does not begin with https://.',
        fix: 'Serve the route over TLS and write its https address.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      http_as_https: {
        meaning: 'The address begins with http://, so the same address with https:// was taken.',
        fix: 'Write the https address, and check that it answers.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      userinfo: {
        meaning: 'The address carries a user name or password.',
        fix: 'Remove the part before the @.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      blocked_address: {
        meaning: 'The address is a private, local or otherwise non-public one.',
        fix: 'Give the public host name at which buyers reach the route.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      blocked_host: {
        meaning: 'The host means something only inside a network, or is a metadata service.',
        fix: 'Give the public host name at which buyers reach the route.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      blocked_port: {
        meaning: 'The port belongs to another protocol than HTTP.',
        fix: 'Serve the route on port 443, and leave the port out of the address.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      ephemeral_host: {
        meaning: 'The host is a tunnel to somebody’s own machine and will not last.',
        fix: 'Deploy the API at a host name of its own.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      preview_host: {
        meaning: 'The host is a preview deployment of one commit, branch or pull request and will not last.',
        fix: 'Write the address of the production deployment, best at a domain of your own.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      wildcard_path: {
        meaning: 'The path has a wildcard, which was taken as a template.',
        fix: 'Name the parameter, so that buyers know what goes there.',
        example: '"resource": "https://api.example.com/users/{id}"',
      },
    },
  },
  items: {
    title: 'Items of a feed, and resources of an x402 file',
    codes: {
      not_an_item: {
        meaning: 'The item is not a JSON object.',
        fix: 'Write each item as an object, or as the address of a resource.',
        example: '{"resource": "https://api.example.com/v1/quote", "accepts": [{…}]}',
      },
      not_http_type: {
        meaning: 'The item is neither an HTTP route nor a tool of an MCP server.',
        fix: 'List the HTTP address of the route, or describe the tool: toolName, inputSchema, and the transport streamable-http.',
        example: '"type": "http"',
      },
      no_resource: {
        meaning: 'The item does not say which address it is about.',
        fix: 'Add the address of the route.',
        example: '"resource": "https://api.example.com/v1/quote"',
      },
      bad_method: {
        meaning: 'The declared method is not an HTTP method that the catalogue knows.',
        fix: 'Use one of GET, POST, PUT, PATCH, DELETE, HEAD and OPTIONS.',
        example: '"method": "POST"',
      },
      no_offers: {
        meaning: 'The item lists no way to pay.',
        fix: 'Add one entry to accepts for each way to pay.',
        example: `"accepts": [${OFFER}]`,
      },
      method_assumed: {
        meaning: 'No method is declared, so GET is assumed.',
        fix: 'Name the method.',
        example: '"method": "POST"',
      },
      method_differs: {
        meaning: 'The item declares several methods; the first is taken.',
        fix: 'Name one method, and list a second one as an item of its own.',
        example: '"method": "POST"',
      },
      resource_differs: {
        meaning: 'An offer names another address than its item; the item’s is taken.',
        fix: 'Give the offer the address of its item, or none.',
      },
      too_many_offers: {
        meaning: 'Only the first offers of a very long list were read.',
        fix: 'List at most 32 offers for a resource in a document, and at most 100 in a 402.',
      },
      bad_date: {
        meaning: 'The date of the last update cannot be read or lies in the future.',
        fix: 'Write the date as ISO 8601 in UTC.',
        example: '"lastUpdated": "2026-11-01T08:00:00Z"',
      },
      bad_mime_type: {
        meaning: 'The declared media type is not one.',
        fix: 'Write type and subtype.',
        example: '"mimeType": "application/json"',
      },
      body_ignored: {
        meaning: 'The example carries a body that its method cannot send.',
        fix: 'Change the method to POST, or move the fields to queryParams.',
        example: '"method": "POST"',
      },
      duplicate: {
        meaning: 'The same route came several times in one pull; its offers were merged.',
        fix: 'List each route once, with all its offers.',
      },
      duplicate_key: {
        meaning: 'A key appears twice in one JSON object; the last one was read, and other readers may take the first.',
        fix: 'Keep one of the two.',
      },
    },
  },
  refused_offers: {
    title: 'Offers that are not taken',
    codes: {
      bad_offer: {
        meaning: 'The offer is not a JSON object.',
        fix: 'Write each offer as an object.',
        example: `"accepts": [${OFFER}]`,
      },
      bad_scheme: {
        meaning: 'The payment scheme is not a name.',
        fix: 'Name the scheme.',
        example: '"scheme": "exact"',
      },
      no_network: {
        meaning: 'The offer names no network.',
        fix: `Name the network: ${Object.values(NETWORKS)
          .map(({ label, id }) => `${label} is ${id}`)
          .join(', ')}.`,
        example: '"network": "eip155:8453"',
      },
      test_network: {
        meaning: 'The offer is on a test network.',
        fix: `Offer payment on ${nameNetworks()}; money of a test network is worth nothing.`,
        example: '"network": "eip155:8453"',
      },
      test_network_mainnet_asset: {
        meaning: 'The offer names the main network’s USDC on a test network.',
        fix: 'Change the network to the one that the asset is on.',
        example: '"network": "eip155:8453"',
      },
      unsupported_network: {
        meaning: `The offer is on another network than ${nameNetworks()}.`,
        fix: `Add an offer on ${nameNetworks()}.`,
        example: '"network": "eip155:8453"',
      },
      no_asset: { meaning: 'The offer names no asset.', fix: 'Add the USDC of the network.', example: USDC_ON_BASE },
      asset_not_an_address: {
        meaning: 'The asset is a name or a currency code instead of a contract or mint.',
        fix: 'Write the address of USDC on the network.',
        example: USDC_ON_BASE,
      },
      not_usdc: {
        meaning: 'The asset is not the USDC of its network.',
        fix: 'Add an offer in USDC.',
        example: USDC_ON_BASE,
      },
      no_amount: {
        meaning: 'The offer names no amount.',
        fix: 'Write the price of one request in atomic units: 0.01 USDC is 10000.',
        example: '"amount": "10000"',
      },
      bad_amount: {
        meaning: 'The amount is not a whole number of atomic units.',
        fix: 'Write digits only, in atomic units: 0.01 USDC is 10000.',
        example: '"amount": "10000"',
      },
      zero_amount: {
        meaning: 'The amount is zero.',
        fix: 'List routes that cost something; a free route needs no listing here.',
        example: '"amount": "1000"',
      },
      implausible_price: {
        meaning: 'The amount is above 1000 USDC for one request.',
        fix: 'Check the unit: 0.01 USDC is 10000 atomic units, and not 10000000000.',
        example: '"amount": "10000"',
      },
      bad_pay_to: {
        meaning: 'The address to pay is missing or is not an account of the network.',
        fix: `Write the account that receives the payment: ${ACCOUNTS}.`,
        example: PAYEE,
      },
    },
  },
  noted_offers: {
    title: 'Offers that are taken with a note',
    codes: {
      network_spelling: {
        meaning: 'The network is spelled as the other protocol version, or another case, would.',
        fix: 'Write base or solana in version 1, and the CAIP-2 id in version 2.',
        example: '"network": "eip155:8453"',
      },
      odd_version: {
        meaning: 'The x402 version is neither 1 nor 2.',
        fix: 'Write the version as a number, 1 or 2.',
        example: '"x402Version": 2',
      },
      amount_as_number: {
        meaning: 'The amount is a JSON number instead of a string.',
        fix: 'Put the amount in quotes.',
        example: '"amount": "10000"',
      },
      amount_differs: {
        meaning: 'The offer states two different amounts; the one named amount is taken.',
        fix: 'State one amount.',
        example: '"amount": "10000"',
      },
      pay_to_differs: {
        meaning: 'The offer states two different payees; the one named payTo is taken.',
        fix: 'State one payee, as payTo.',
        example: PAYEE,
      },
      scheme_assumed: {
        meaning: 'No payment scheme is named, so exact is assumed.',
        fix: 'Name the scheme.',
        example: '"scheme": "exact"',
      },
      other_scheme: {
        meaning: 'The payment scheme is not exact, so the amount may be a ceiling instead of the price.',
        fix: 'Add an offer of the scheme exact if the price is fixed.',
        example: '"scheme": "exact"',
      },
      odd_timeout: {
        meaning: 'The payment time-out is not between one second and one day, so it was left out.',
        fix: 'Write a number of seconds from 1 to 86400.',
        example: '"maxTimeoutSeconds": 60',
      },
    },
  },
  texts: {
    title: 'Texts, schemas and examples',
    codes: {
      hidden_text: {
        meaning: 'The text had invisible or direction-changing characters, which were removed.',
        fix: 'Remove zero-width and direction-changing characters from the text.',
      },
      text_shortened: {
        meaning: 'The text was too long for its field and was cut.',
        fix: 'Shorten the text: 120 characters for a title, 200 for a tagline, 500 for a route.',
      },
      schema_too_large: {
        meaning: 'The schema is larger than 16 KB or nested too deeply, and was left out.',
        fix: 'Describe the fields that a caller needs, in less than 16 KB and 32 levels.',
      },
      example_too_large: {
        meaning: 'The example is larger than 16 KB or nested too deeply, and was left out.',
        fix: 'Give a smaller example.',
      },
      header_removed: {
        meaning:
          'The example had a header that carries a secret or a payment, or controls the connection; it was removed.',
        fix: 'Leave such headers out of examples.',
      },
      header_left_out: {
        meaning: 'The example had a header that HTTP does not allow, or too many headers; it was left out.',
        fix: 'Use names and values that HTTP allows.',
        example: '"headers": {"accept-language": "en"}',
      },
    },
  },
  manifests: {
    title: 'Manifests',
    codes: {
      manifest_too_large: {
        meaning: 'The manifest is larger than 1 MB.',
        fix: 'Write one listing a file, in less than 1 MB.',
      },
      manifest_unreadable: {
        meaning: 'The file cannot be read, or it is not UTF-8 text.',
        fix: 'Save the file as UTF-8.',
      },
      manifest_not_a_file: {
        meaning: 'It is a folder, a pipe or a device instead of a file, so it was not read.',
        fix: 'Give the path of a file.',
      },
      manifest_empty: {
        meaning: 'The manifest is empty.',
        fix: 'Write at least name, base_url and tagline.',
        example: 'name: Example Prices\nbase_url: https://api.example.com\ntagline: Prices of many things',
      },
      manifest_many_documents: {
        meaning: 'The file holds several YAML documents; one file is one listing.',
        fix: 'Remove the line --- and put the second listing in a file of its own.',
      },
      manifest_yaml: {
        meaning: 'The file is not well-formed YAML.',
        fix: 'Correct the line that the message names; put text with a colon in quotes.',
        example: 'tagline: "Prices: of many things"',
      },
      manifest_tab: { meaning: 'A line is indented with a tab, which YAML forbids.', fix: 'Indent with spaces.' },
      manifest_duplicate_key: { meaning: 'A key appears twice in one mapping.', fix: 'Keep one of the two.' },
      manifest_alias: {
        meaning: 'The manifest uses a YAML anchor, alias or tag, which is not allowed.',
        fix: 'Write the value out at each place.',
      },
      manifest_too_deep: { meaning: 'The manifest is nested too deeply.', fix: 'Use the fields of the schema only.' },
      manifest_unknown_field: {
        meaning: 'The manifest has an unknown field.',
        fix: 'Remove the field or correct its name; the schema lists them all.',
      },
      manifest_missing_field: {
        meaning: 'A field that every manifest needs is missing.',
        fix: 'Add the field that the message names.',
        example: 'base_url: https://api.example.com',
      },
      manifest_bad_value: {
        meaning: 'A field has an invalid value.',
        fix: 'Write what the message says that the field takes.',
      },
      manifest_duplicate_route: {
        meaning: 'A route appears twice in the manifest.',
        fix: 'List each method and path once.',
      },
      manifest_two_prices: {
        meaning: 'A listing with itemised routes states a price of its own.',
        fix: 'Remove the price of the listing; each route has its own.',
      },
      no_manifests: { meaning: 'The folder holds no manifests.', fix: 'Put *.yaml files into the folder.' },
      no_price: {
        meaning: 'No price is stated, so the listing cannot go live.',
        fix: 'State a price.',
        example: 'price_usdc: "0.01"',
      },
    },
  },
  documents: {
    title: 'Documents as a whole',
    codes: {
      document_unreadable: {
        meaning: 'The document is neither JSON nor YAML that can be read.',
        fix: 'Correct the document at the place that the message names.',
      },
      document_too_large: {
        meaning: 'The document is larger than 10 MB, or 4 MB as YAML.',
        fix: 'Leave out what buyers do not need, or split the document.',
      },
      document_html: {
        meaning: 'There is a web page instead of the document.',
        fix: 'Serve the JSON document itself at this address, with the type application/json.',
        example: 'Content-Type: application/json',
      },
      not_api_document: {
        meaning: 'The document is neither OpenAPI 3 nor a list of x402 resources.',
        fix: 'Give a list of resources, or an OpenAPI document.',
        example: '{"version": 1, "resources": ["https://api.example.com/v1/quote"]}',
      },
      other_list: {
        meaning:
          'The document is of another protocol: an agent card, a registration by ERC-8004, a server.json of MCP, or a list for L402.',
        fix: 'Describe the routes that are paid by x402 in /.well-known/x402, or in an OpenAPI document with x-payment-info.',
        example: '{"version": 1, "resources": ["https://api.example.com/v1/quote"]}',
      },
      openapi_version: {
        meaning: 'The document is of another OpenAPI version than 3.',
        fix: 'Convert the document to OpenAPI 3.0 or 3.1.',
        example: '"openapi": "3.1.0"',
      },
      openapi_not_read: {
        meaning: 'The OpenAPI document that the file names could not be read, so only the file itself counts.',
        fix: 'Correct the address, or what is served there.',
        example: '"openapi": "https://api.example.com/openapi.json"',
      },
      no_server: {
        meaning: 'The document does not say at which address its operations are.',
        fix: 'Add servers with the public address.',
        example: '"servers": [{"url": "https://api.example.com"}]',
      },
      no_payable_operation: {
        meaning: 'The document holds nothing that is paid for by x402.',
        fix: 'Add x-payment-info to each payable operation, or list the resources.',
        example: PRICE,
      },
      too_many_operations: {
        meaning: 'Only the first 2,000 payable operations of the document were taken.',
        fix: 'Use path templates instead of one operation for each value.',
      },
      schemas_left_out: {
        meaning: 'The schemas are larger than 4 MB in all, so those of the last operations were left out.',
        fix: 'Make the schemas smaller.',
      },
      other_origin: {
        meaning: 'The API is at a host that the document cannot speak for: it speaks for its own and those below it.',
        fix: 'Publish the document at the host of the API itself. An operator who trusts it names the base address.',
      },
      stand_in_server: {
        meaning: 'The server is local or an example, so the host that was read, or asked for, counts.',
        fix: 'Give the public address of the API as the server.',
        example: '"servers": [{"url": "https://api.example.com"}]',
      },
      many_servers: {
        meaning: 'The document names several servers; one of them is taken.',
        fix: 'Put the public server first.',
        example: '"servers": [{"url": "https://api.example.com"}]',
      },
    },
  },
  operations: {
    title: 'Operations and their prices',
    codes: {
      no_payment_info: {
        meaning: 'Operations that state no payment were left out.',
        fix: 'Add x-payment-info where an operation is to be paid for; free ones need nothing.',
        example: PRICE,
      },
      outside_base_address: {
        meaning: 'The operation is not below the requested base address.',
        fix: 'Correct servers, or give the base address that the operation is below.',
      },
      bad_reference: {
        meaning: 'A reference leads nowhere or out of the document, so it was left out.',
        fix: 'Point the reference to a place in the same document.',
        example: '"$ref": "#/components/schemas/Quote"',
      },
      schema_cut: {
        meaning: 'The schema is larger than 16 KB with its references followed, so inner ones were left open.',
        fix: 'Make the schema smaller if callers need its inner parts.',
      },
      resource_without_terms: {
        meaning: 'The list has only the address, so the price is not known.',
        fix: 'State the price beside the address, or answer the request there with a 402.',
        example: '{"url": "https://api.example.com/v1/quote", "method": "GET", "price": "0.01", "currency": "USDC"}',
      },
      not_x402: {
        meaning: 'The operation is paid for by another protocol than x402.',
        fix: 'Name x402 among the protocols if the route takes it.',
        example: '"protocols": ["x402"]',
      },
      protocol_assumed: {
        meaning: 'No payment protocol is named, so x402 is assumed.',
        fix: 'Name the protocol.',
        example: '"protocols": ["x402"]',
      },
      network_assumed: {
        meaning: `No network is named, so ${NETWORKS[DEFAULT_NETWORK].label} is assumed.`,
        fix: 'Name the network.',
        example: '"network": "eip155:8453"',
      },
      usd_as_usdc: {
        meaning: 'The price is stated in US dollars and was taken as USDC, one for one.',
        fix: 'Name the currency USDC if that is what is paid.',
        example: '"currency": "USDC"',
      },
      other_currency: {
        meaning: 'The price is in another currency than US dollars or USDC, so none was taken.',
        fix: 'State the price in USDC.',
        example: '"currency": "USDC"',
      },
      dynamic_price: {
        meaning: 'The price depends on the request, so none was taken.',
        fix: 'Nothing, if it does: the live 402 shows the price. Otherwise state a fixed price.',
        example: '"price": {"mode": "fixed", "currency": "USD", "amount": "0.01"}',
      },
      unknown_price: {
        meaning: 'No readable price is stated, so none was taken.',
        fix: 'State the price of one request as a decimal number with its currency.',
        example: '"price": "0.01", "currency": "USDC"',
      },
      ambiguous_price: {
        meaning: 'The price may be in USDC or in atomic units, so none was taken.',
        fix: 'Write the price with decimals and a currency, or the atomic amount as maxAmountRequired or with "unit": "micro".',
        example: '"price": "0.01", "currency": "USDC"',
      },
      prices_differ: {
        meaning: 'Two documents of the provider state different prices for one route.',
        fix: 'State the same price in both documents.',
        example: '"price": {"mode": "fixed", "currency": "USD", "amount": "0.01"}',
      },
      price_of_file: {
        meaning: 'The file states one price, which was taken for each resource.',
        fix: 'Nothing, if that is so. Otherwise state the price beside each resource.',
        example: '{"url": "https://api.example.com/v1/quote", "price": "0.01", "currency": "USDC"}',
      },
    },
  },
  provider_files: {
    title: 'The statement of a provider',
    codes: {
      provider_file_too_large: {
        meaning: 'The statement is larger than 64 KB.',
        fix: 'Move routes to an OpenAPI document and name its address.',
        example: '{"listed": true, "openapi": "https://api.example.com/openapi.json"}',
      },
      provider_file_unreadable: {
        meaning: 'The statement is not JSON that can be read.',
        fix: 'Correct the JSON.',
        example: '{"version": 1, "listings": [{"listed": true}]}',
      },
      provider_file_bad_value: {
        meaning: 'The statement lacks a field, or has a field or value that is not allowed.',
        fix: 'Write what the message asks for.',
        example: '{"version": 1, "listings": [{"listed": true}]}',
      },
      provider_unknown_field: {
        meaning: 'The statement has an unknown field, which was ignored.',
        fix: 'Remove the field or correct its name.',
      },
      provider_other_origin: {
        meaning: 'The statement names another origin than its own, which does not count.',
        fix: 'Publish a statement at that origin.',
      },
      provider_duplicate_listing: {
        meaning: 'The statement names one address twice; the first entry counts.',
        fix: 'Keep one of the two entries.',
      },
      provider_document_failed: {
        meaning: 'The document that the statement names could not be taken, so it changed nothing.',
        fix: 'Correct the address, or what is served there.',
        example: '"openapi": "https://api.example.com/openapi.json"',
      },
    },
  },
  challenges: {
    title: 'The live 402',
    codes: {
      no_challenge: {
        meaning: 'The 402 has neither the header PAYMENT-REQUIRED nor a body.',
        fix: 'Send the payment requirements with the 402.',
        example: HEADER,
      },
      header_too_large: {
        meaning: 'The header PAYMENT-REQUIRED is larger than 16 KB, which common clients refuse.',
        fix: 'Move large schemas and examples out of the challenge.',
      },
      body_too_large: {
        meaning: 'The body of the 402 is larger than 256 KB.',
        fix: 'Send only the payment requirements.',
      },
      bad_base64: {
        meaning: 'The header PAYMENT-REQUIRED is not base 64.',
        fix: 'Encode the JSON of the requirements as base 64.',
        example: HEADER,
      },
      not_utf8: { meaning: 'The challenge is not UTF-8 text.', fix: 'Encode the challenge as UTF-8.' },
      html_page: {
        meaning: 'The 402 has a web page instead of the payment requirements.',
        fix: 'Answer requests that do not accept HTML with JSON.',
        example: '{"x402Version": 1, "accepts": [{…}]}',
      },
      not_json: {
        meaning: 'The challenge is not JSON.',
        fix: 'Correct the JSON.',
        example: '{"x402Version": 1, "accepts": [{…}]}',
      },
      too_deep: { meaning: 'The challenge is nested deeper than 64 levels.', fix: 'Make the schemas flatter.' },
      not_an_object: {
        meaning: 'The challenge is JSON, but not an object.',
        fix: 'Send an object.',
        example: '{"x402Version": 1, "accepts": [{…}]}',
      },
      no_version: {
        meaning: 'The challenge names no x402 version.',
        fix: 'Add the version as a number.',
        example: '"x402Version": 2',
      },
      bad_version: {
        meaning: 'The challenge names an x402 version other than 1 and 2.',
        fix: 'Write the version as a number, 1 or 2.',
        example: '"x402Version": 2',
      },
      no_accepts: {
        meaning: 'The challenge has no list of offers, or an empty one.',
        fix: 'Add one entry to accepts for each way to pay.',
        example: `"accepts": [${OFFER}]`,
      },
      bad_timeout: {
        meaning: 'The offer has no payment time-out, so nobody can sign for it.',
        fix: 'Add a number of seconds.',
        example: '"maxTimeoutSeconds": 60',
      },
      not_conforming: {
        meaning: 'The schema of the x402 SDK refuses the challenge, so clients that check it do not pay.',
        fix: 'Correct or add the field at this place, as the protocol version has it.',
        example: HEADER,
      },
      header_missing: {
        meaning: 'The challenge is of version 2, but is only in the body; clients of version 2 read the header.',
        fix: 'Send the challenge in the header PAYMENT-REQUIRED.',
        example: HEADER,
      },
      version_1_in_header: {
        meaning: 'The header PAYMENT-REQUIRED has a challenge of version 1; clients of version 1 read the body.',
        fix: 'Send the challenge in the body, or write it in the header as version 2 has it.',
        example: HEADER,
      },
      header_unreadable: {
        meaning: 'The header PAYMENT-REQUIRED cannot be read; only clients of version 1 can pay, by the body.',
        fix: 'Encode the JSON of the requirements as base 64.',
        example: HEADER,
      },
      body_differs: {
        meaning: 'Header and body of the 402 ask for different things on one network.',
        fix: 'Ask for the same in both.',
      },
      other_payment_scheme: {
        meaning: 'The 402 asks for payment by another protocol than x402.',
        fix: 'Offer x402 beside it.',
        example: HEADER,
      },
    },
  },
  imports: {
    title: 'Findings of an import',
    codes: {
      slug_taken: {
        meaning:
          'Another listing has the slug that the manifest asks for, so the first characters of the id are added.',
        fix: 'Ask for another slug, or for none.',
      },
      slug_kept: {
        meaning: 'The listing already has another slug than the manifest asks for, and a slug never changes.',
        fix: 'Write the slug that the listing has.',
      },
      pull_failed: {
        meaning: 'The last pull of the feed failed; the results of earlier pulls stay.',
        fix: 'Nothing: the next pull tries again.',
      },
      not_recorded: {
        meaning: 'The listing could not be recorded, which is a fault of the program; nothing was kept.',
        fix: 'Report it to the operator of the catalogue.',
      },
      provider_kept_out: {
        meaning: 'The provider asked not to be listed at this address, so it will not be.',
        fix: 'State "listed": true to be listed after all.',
        example: '{"version": 1, "listings": [{"listed": true}]}',
      },
      provider_others_stay: {
        meaning: 'The request is only for the origin; other listings of the host must be named by their base_url.',
        fix: 'Add an entry for each other base_url.',
        example: '{"base_url": "https://api.example.com/v2", "listed": false}',
      },
      provider_not_lifted: {
        meaning: "Somebody else removed the listing, which the provider's request does not undo.",
        fix: 'Write to the operator of the catalogue.',
      },
      provider_nothing_to_list: {
        meaning: 'The entry asks for a listing, but has neither facts nor a document.',
        fix: 'Name an OpenAPI document, or state facts.',
        example: '{"listed": true, "openapi": "https://api.example.com/openapi.json"}',
      },
      provider_reply_no_route: {
        meaning: 'A reply is about a route that the listing does not have, so it is not shown.',
        fix: 'Write method and path as the page of the listing has them.',
        example: '"route": "GET /v1/forecast"',
      },
    },
  },
} as const satisfies Record<string, Section>;

type Sections = typeof FINDING_SECTIONS;
type CodesOf<Name extends keyof Sections> = Name extends keyof Sections ? keyof Sections[Name]['codes'] : never;

export type FindingCode = CodesOf<keyof Sections> & string;

/** Meaning of a code, and the way to fix its cause. */
export interface CodeWords extends CodeEntry {
  readonly code: string;
}

/** Lists all codes with their words, by section. */
export function listFindingSections(): { id: string; title: string; codes: CodeWords[] }[] {
  return Object.entries<Section>(FINDING_SECTIONS).map(([id, { title, codes }]) => ({
    id: id.replaceAll('_', '-'),
    title,
    codes: Object.entries(codes).map(([code, words]) => ({ code, ...words })),
  }));
}

const WORDS: ReadonlyMap<string, CodeWords> = new Map(
  listFindingSections().flatMap(({ codes }) => codes.map((words) => [words.code, words])),
);

/** Finds the words of a code; undefined for a code of another version of the program. */
export function findCodeWords(code: string): CodeWords | undefined {
  return WORDS.get(code);
}
