/** The words of listings are in the published catalogue alone. */
export const sql = `
DROP TABLE search_entries;
DROP TABLE search_words;
`;
