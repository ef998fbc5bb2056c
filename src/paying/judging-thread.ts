/** The thread that judges answers to paid calls, one after another. */
import { parentPort } from 'node:worker_threads';
import type { JudgingMessage } from './judging.ts';
import { type JudgedAnswer, judgeProduct } from './product.ts';

const say = (message: JudgingMessage) => parentPort?.postMessage(message);

parentPort?.on('message', (answer: JudgedAnswer) => {
  say('begun');
  for (const judgement of judgeProduct(answer)) say(judgement);
  say('ended');
});
