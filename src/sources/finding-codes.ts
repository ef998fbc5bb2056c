import type { Finding } from '../model/declaration.ts';
import { formatUsdc } from '../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../x402/offer-fields.ts';

/** Every code that reading a source can report, and what it means. */
export const FINDING_CODES = {
  // Addresses: the refusals of the guarded client, before anything is fetched.
  bad_url: 'The address is not a valid URL.',
  not_https: 'The address does not begin with https://.',
  userinfo: 'The address carries a user name or password.',
  blocked_address: 'The address is a private, local or otherwise non-public one.',
  blocked_host: 'The host means something only inside a network, or is a metadata service.',
  blocked_port: 'The port belongs to another protocol than HTTP.',
  ephemeral_host: 'The host is a tunnel to somebody’s own machine and will not last.',

  // Feed items.
  not_an_item: 'The item is not a JSON object.',
  not_http_type: 'The item is of another type than http.',
  no_resource: 'The item does not say which address it is about.',
  bad_method: 'The declared method is not an HTTP method that the catalogue knows.',
  no_offers: 'The item lists no way to pay.',
  method_assumed: 'No method is declared, so GET is assumed.',
  method_differs: 'The item declares several methods; the first is taken.',
  resource_differs: 'An offer names another address than its item; the item’s is taken.',
  too_many_offers: 'Only the first offers of a very long list were read.',
  bad_date: 'The date of the last update cannot be read or lies in the future.',
  bad_mime_type: 'The declared media type is not one.',
  body_ignored: 'The example carries a body that its method cannot send.',
  duplicate: 'The same route came several times in one pull; its offers were merged.',

  // Offers that are not taken.
  bad_offer: 'The offer is not a JSON object.',
  bad_scheme: 'The payment scheme is not a name.',
  no_network: 'The offer names no network.',
  test_network: 'The offer is on a test network.',
  test_network_mainnet_asset: 'The offer names the main network’s USDC on a test network.',
  unsupported_network: 'The offer is on another network than Base or Solana.',
  no_asset: 'The offer names no asset.',
  asset_not_an_address: 'The asset is a name or a currency code instead of a contract or mint.',
  not_usdc: 'The asset is not the USDC of its network.',
  no_amount: 'The offer names no amount.',
  bad_amount: 'The amount is not a whole number of atomic units.',
  zero_amount: 'The amount is zero.',
  implausible_price: `The amount is above ${formatUsdc(MAX_PLAUSIBLE_AMOUNT)} USDC for one request.`,
  bad_pay_to: 'The address to pay is missing or is not an account of the network.',

  // Offers that are taken with a note.
  network_spelling: 'The network is spelled as the other protocol version, or another case, would.',
  odd_version: 'The x402 version is neither 1 nor 2.',
  amount_as_number: 'The amount is a JSON number instead of a string.',
  amount_differs: 'The offer states two different amounts; the one named amount is taken.',
  pay_to_differs: 'The offer states two different payees; the one named payTo is taken.',
  scheme_assumed: 'No payment scheme is named, so exact is assumed.',
  other_scheme: 'The payment scheme is not exact, so the amount may be a ceiling instead of the price.',
  odd_timeout: 'The payment time-out is not between one second and one day, so it was left out.',

  // Text and JSON that a provider wrote.
  hidden_text: 'The text had invisible or direction-changing characters, which were removed.',
  text_shortened: 'The text was too long for its field and was cut.',
  schema_too_large: 'The schema is larger than 16 KB or nested too deeply, and was left out.',
  example_too_large: 'The example is larger than 16 KB or nested too deeply, and was left out.',
  header_removed:
    'The example had a header that carries a secret or a payment, or controls the connection; it was removed.',
  header_left_out: 'The example had a header that HTTP does not allow, or too many headers; it was left out.',

  // Manifests.
  manifest_too_large: 'The manifest is larger than 1 MB.',
  manifest_unreadable: 'The file cannot be read, or it is not UTF-8 text.',
  manifest_not_a_file: 'It is a folder, a pipe or a device instead of a file, so it was not read.',
  manifest_empty: 'The manifest is empty.',
  manifest_many_documents: 'The file holds several YAML documents; one file is one listing.',
  manifest_yaml: 'The file is not well-formed YAML.',
  manifest_tab: 'A line is indented with a tab, which YAML forbids.',
  manifest_duplicate_key: 'A key appears twice in one mapping.',
  manifest_alias: 'The manifest uses a YAML anchor, alias or tag, which is not allowed.',
  manifest_too_deep: 'The manifest is nested too deeply.',
  manifest_unknown_field: 'The manifest has an unknown field.',
  manifest_missing_field: 'A field that every manifest needs is missing.',
  manifest_bad_value: 'A field has an invalid value.',
  manifest_duplicate_route: 'A route appears twice in the manifest.',
  manifest_two_prices: 'A listing with itemised routes states a price of its own.',
  no_manifests: 'The folder holds no manifests.',
  no_price: 'No price is stated, so the listing cannot go live.',

  // API documents: the whole document.
  document_unreadable: 'The document is neither JSON nor YAML that can be read.',
  document_too_large: 'The document is larger than 10 MB, or 4 MB as YAML.',
  document_html: 'There is a web page instead of the document.',
  not_api_document: 'The document is neither OpenAPI 3 nor a list of x402 resources.',
  openapi_version: 'The document is of another OpenAPI version than 3.',
  no_server: 'The document does not say at which address its operations are.',
  no_payable_operation: 'The document holds nothing that is paid for by x402.',
  too_many_operations: 'Only the first 2,000 payable operations of the document were taken.',
  schemas_left_out: 'The schemas are larger than 4 MB in all, so those of the last operations were left out.',
  other_origin: 'The listing has another origin than the document that declares it.',
  many_servers: 'The document names several servers; the first is taken.',

  // API documents: operations.
  no_payment_info: 'Operations that state no payment were left out.',
  outside_base_address: 'The operation is not below the requested base address.',
  bad_reference: 'A reference leads nowhere or out of the document, so it was left out.',
  schema_cut: 'The schema is larger than 16 KB with its references followed, so inner ones were left open.',
  resource_without_terms: 'The list has only the address, so the price is not known.',

  // The payment information of an operation.
  not_x402: 'The operation is paid for by another protocol than x402.',
  protocol_assumed: 'No payment protocol is named, so x402 is assumed.',
  network_assumed: 'No network is named, so Base is assumed.',
  usd_as_usdc: 'The price is stated in US dollars and was taken as USDC, one for one.',
  other_currency: 'The price is in another currency than US dollars or USDC, so none was taken.',
  dynamic_price: 'The price depends on the request, so none was taken.',
  unknown_price: 'No readable price is stated, so none was taken.',

  // Provider files.
  provider_file_too_large: 'The statement is larger than 64 KB.',
  provider_file_unreadable: 'The statement is not JSON that can be read.',
  provider_file_bad_value: 'The statement lacks a field, or has a field or value that is not allowed.',
  provider_unknown_field: 'The statement has an unknown field, which was ignored.',
  provider_other_origin: 'The statement names another origin than its own, which does not count.',
  provider_duplicate_listing: 'The statement names one address twice; the first entry counts.',
  provider_document_failed: 'The document that the statement names could not be taken, so it changed nothing.',
} as const;

export type FindingCode = keyof typeof FINDING_CODES;

/** Builds a finding with one of the codes above. */
export function buildFinding(
  severity: Finding['severity'],
  code: FindingCode,
  item: string,
  message: string = FINDING_CODES[code],
): Finding {
  return { code, severity, item, message };
}

/** Notes something about the item or file that is being read. */
export type Note = (code: FindingCode, message?: string) => void;
