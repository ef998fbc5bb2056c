/**
 * Scores name the version of the method that they were computed by. Those on record are of the first. They are computed again
 * when their listing is next published, or by `check --repair`.
 */
export const sql = `
UPDATE listings SET document = json_set(document, '$.reliability.method', 1) WHERE document != '{}';
`;
