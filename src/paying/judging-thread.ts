/** The thread that judges one answer to a paid call. */
import { parentPort, workerData } from 'node:worker_threads';
import type { JudgingMessage } from './judging.ts';
import { judgeProduct } from './product.ts';

const say = (message: JudgingMessage) => parentPort?.postMessage(message);

say('running');
for (const judgement of judgeProduct(workerData)) say(judgement);
