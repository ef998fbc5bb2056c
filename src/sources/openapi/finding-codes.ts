/** What reading a provider's API document can report besides what every source can, and what it means. */
export const API_DOCUMENT_CODES = {
  // The document as a whole.
  document_unreadable: 'The document is neither JSON nor YAML that can be read.',
  document_too_large: 'The document is larger than 10 MB, or 4 MB as YAML.',
  document_html: 'A web page stands where the document was expected.',
  not_api_document: 'The document is neither OpenAPI 3 nor a list of x402 resources.',
  openapi_version: 'The document is of another OpenAPI version than 3.',
  no_server: 'The document does not say at which address its operations are.',
  no_payable_operation: 'The document holds nothing that is paid for by x402.',
  too_many_operations: 'Only the first 2,000 payable operations of the document were taken.',
  schemas_left_out: 'The schemas are larger than 4 MB in all, so those of the last operations were left out.',
  other_origin: 'The listing has another origin than the document that declares it.',
  many_servers: 'The document names several servers; the first is taken.',

  // Operations.
  no_payment_info: 'Operations that state no payment were left out.',
  outside_base_address: 'The operation does not lie below the base address that was asked for.',
  bad_reference: 'A reference leads nowhere, or out of the document, and was left out.',
  schema_cut: 'The schema is larger than 16 KB with its references followed, so inner ones were left open.',
  resource_without_terms: 'The list names the address alone, so its price is not known.',

  // What an operation says of its payment.
  not_x402: 'The operation is paid for by another protocol than x402.',
  protocol_assumed: 'No payment protocol is named, so x402 is assumed.',
  network_assumed: 'No network is named, so Base is assumed.',
  usd_as_usdc: 'The price is stated in US dollars and was taken as USDC, one for one.',
  other_currency: 'The price is in another currency than US dollars or USDC, so none was taken.',
  dynamic_price: 'The price depends on the request, so none was taken.',
  unknown_price: 'No price is stated that could be read, so none was taken.',
} as const;
