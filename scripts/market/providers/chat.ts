import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

const message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string().max(20_000) });
const MODEL = 'gist-1';
const STOP_WORDS = new Set(
  'a an and are as at be but by for from has have he her his i in is it its of on or she that the they this to was we were will with you'.split(
    ' ',
  ),
);

/** A chat completion in OpenAI's format. Its model picks the sentence that says most. */
export const CHAT: ProviderPlan = {
  key: 'chat',
  title: 'Gist Chat',
  summary: 'An OpenAI-style chat completion whose model sums a text up in one of its own sentences.',
  version: 2,
  networks: ['base'],
  routes: [
    buildRoute({
      method: 'POST',
      path: '/v1/chat/completions',
      summary: 'Completes a chat: answers with the gist of the last message.',
      price: 5_000,
      input: z.object({ model: z.string().default(MODEL), messages: z.array(message).min(1).max(100) }),
      output: z.object({
        id: z.string(),
        object: z.literal('chat.completion'),
        created: z.int(),
        model: z.string(),
        choices: z.array(z.object({ index: z.int(), message, finish_reason: z.string() })),
        usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
      }),
      example: {
        model: MODEL,
        messages: [
          {
            role: 'user',
            content:
              'The ferry was late again. The ferry company blames the tide, and the tide does not answer. We waited.',
          },
        ],
      },
      work({ model, messages }) {
        const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
        const content = findGist(asked);
        const prompt = messages.reduce((sum, { content: given }) => sum + countTokens(given), 0);
        const completion = countTokens(content);
        return {
          id: `chatcmpl-${crypto.randomUUID()}`,
          object: 'chat.completion' as const,
          created: Math.floor(Date.now() / 1000),
          model,
          choices: [{ index: 0, message: { role: 'assistant' as const, content }, finish_reason: 'stop' }],
          usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
        };
      },
    }),
  ],
};

/** Finds the sentence whose words are the most frequent in the text. */
function findGist(text: string): string {
  const sentences = text.match(/[^.!?]+[.!?]*/g)?.map((sentence) => sentence.trim()) ?? [];
  const counts = new Map<string, number>();
  for (const word of listWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const getWeight = (sentence: string) =>
    [...new Set(listWords(sentence))].reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
  const [best = 'There is nothing to sum up.'] = sentences.toSorted((a, b) => getWeight(b) - getWeight(a));
  return best;
}

function listWords(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => !STOP_WORDS.has(word));
}

function countTokens(text: string): number {
  return text.match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu)?.length ?? 0;
}
