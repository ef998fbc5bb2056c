/**
 * Scores say by which version of the method they were made: those on record by the first. They are made again when their
 * listing is next published, or by `check --repair`.
 */
export const sql = `
UPDATE listings SET document = json_set(document, '$.reliability.method', 1) WHERE document != '{}';
`;
