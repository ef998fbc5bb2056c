import type { FindingCode, Note } from './finding-codes.ts';
import type { Path } from './manifest-yaml.ts';

/** What the building of a declaration needs besides the manifest. */
export interface ManifestContext {
  /** The file's name, which is the source's. */
  name: string;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  /** Says what makes the manifest unacceptable, and where. */
  refuse: (code: FindingCode, path: Path, message: string) => void;
  note: Note;
}
