/** What reading a provider's own statement can report besides what every source can, and what it means. */
export const PROVIDER_FILE_CODES = {
  provider_file_too_large: 'The statement is larger than 64 KB.',
  provider_file_unreadable: 'The statement is not JSON that can be read.',
  provider_file_bad_value:
    'The statement has a field that it does not know, lacks one, or has a value that cannot be taken.',
  provider_unknown_field: 'The statement has a field that is not known, which was passed over.',
  provider_other_origin: 'What is said of another origin than the one where the statement stands counts for nothing.',
  provider_duplicate_listing: 'The statement names one address twice; the first counts.',
  provider_document_failed: 'The document that the statement names could not be taken, so nothing changed by it.',
} as const;
