/** Names the times at which a host's provider's file and a made-up address of it were asked for after what was asked for. */
export function listStatements(): readonly string[] {
  return [
    'ALTER TABLE hosts RENAME COLUMN door_at TO provider_file_at',
    'ALTER TABLE hosts RENAME COLUMN sibling_at TO decoy_at',
  ];
}
