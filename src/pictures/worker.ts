/** The thread that paints: what takes a tenth of a second, or all of a processor, never holds up a request. */
import { parentPort } from 'node:worker_threads';
import { getErrorMessage } from '../errors.ts';
import type { Picture } from '../views/picture.ts';
import { openPainting } from './painting.ts';

/** One order to the thread, and its answer. The thread gets one at a time. */
export interface PaintingOrder {
  readonly picture: Picture;
}
export type PaintingAnswer = { readonly png: Uint8Array } | { readonly failure: string };

const opening = openPainting();

parentPort?.on('message', async ({ picture }: PaintingOrder) => {
  const answer: PaintingAnswer = await opening
    .then(async (paint) => ({ png: await paint(picture) }))
    .catch((error: unknown) => ({ failure: getErrorMessage(error) }));
  parentPort?.postMessage(answer);
});
