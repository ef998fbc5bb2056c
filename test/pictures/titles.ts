/** A title in each script that pictures are drawn in. */
export const TITLES = {
  'Latin with Vietnamese': 'Dự báo thời tiết cho mọi thành phố',
  Cyrillic: 'Прогноз погоды для каждого города',
  Greek: 'Πρόγνωση καιρού για κάθε πόλη',
} as const;
