import type { RebuildEvent, RebuildResult } from './events.ts';

/** Says in a sentence what a rebuild is at; undefined for what is progress or somebody else's words. */
export function describeRebuildEvent(event: RebuildEvent): string | undefined {
  switch (event.type) {
    case 'waiting':
      return 'Waiting for another rebuild to end …';
    case 'compiling':
      return 'Compiling the pages (once for each version of the code) …';
    case 'compiled':
      return `Compiled in ${formatSeconds(event.ms)}.`;
    case 'mending':
      return `${event.damage} It is made again.`;
    default:
      return undefined;
  }
}

/** Says in a sentence what came of a rebuild. */
export function describeRebuildResult(result: RebuildResult): string {
  const { id, revision } = result.release;
  if (result.outcome === 'unchanged') return `Nothing to do: release ${id} is of revision ${revision} already.`;
  const { rendered, linked, ms } = result;
  const kept = linked === 0 ? '' : `, ${linked} unchanged`;
  return `Released ${id} of revision ${revision}: ${rendered} pages rendered${kept}, in ${formatSeconds(ms)}.`;
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
