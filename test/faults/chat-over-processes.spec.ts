import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/platform/kernel/ids.js';
import { LoopbackModel } from '../support/loopback-model.js';
import { type Service, startService } from '../support/processes.js';

const QUESTION = 'Is there anything about the delivery that I should worry about?';

let model: LoopbackModel;
let service: Service;
beforeAll(async () => {
  model = await LoopbackModel.start();
  service = await startService(2, {
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'test-model',
    MODEL_TIMEOUT_SECONDS: '60',
  });
}, 90_000);
afterAll(async () => {
  await service.close();
  await model.stop();
});

it('a yes that is said to two processes at once hands the directive in once', async () => {
  const say = (nth: number, message: string, conversationId?: string) =>
    service
      .client(service.processes[nth])
      .post('/consigliere/chat', { message, ...(conversationId && { conversationId }) });
  const text = 'Email jane@acme.example, subject "Your order": "It ships on Friday."';
  const asked = await say(1, text);
  const { conversationId } = asked.body;
  expect(asked.body.intents).toEqual([{ intent: 'hand_in_asked', ids: [] }]);
  const answers = await Promise.all([0, 1, 0, 1].map((nth) => say(nth, 'yes', conversationId)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const handedIn = answers.flatMap(({ body }) => body.directiveIds as string[]);
  expect(await service.rows('select directive_id, text from directives')).toEqual([
    { directive_id: handedIn[0], text },
  ]);
  expect(handedIn).toHaveLength(1);
}, 60_000);

it('a process that is killed while it answers leaves the conversation as it was, and it goes on in another', async () => {
  const [first, second] = service.processes;
  const chat = (message: string, conversationId?: string, headers: Record<string, string> = {}) =>
    service
      .client(second)
      .post('/consigliere/chat', { message, ...(conversationId && { conversationId }) }, headers);
  const { conversationId } = (await chat('What waits for me?')).body;
  const read = async () =>
    (await service.client(second).get(`/consigliere/chat/${conversationId}`)).body.items as unknown[];

  const isAsked = new Promise<void>((resolve) => {
    model.reply = () => {
      resolve();
      return 'nothing';
    };
  });
  const key = { 'Idempotency-Key': newId('req') };
  const body = { message: QUESTION, conversationId };
  const lost = service
    .client(first)
    .post('/consigliere/chat', body, key)
    .catch((error: unknown) => error);
  await isAsked;
  // The other process knows that the member is being answered.
  expect(await chat('Which signals are open?', conversationId)).toMatchObject({
    status: 409,
    body: { error: { code: 'CHAT_BUSY' } },
  });
  await first!.kill();
  expect(await lost).toBeInstanceOf(Error);
  expect(await read()).toHaveLength(2);

  // Until a minute is over.
  expect((await chat('Which signals are open?', conversationId)).status).toBe(409);
  await service.rows(`update chat_turns set expires_at = now() - interval '1 second'`);
  const content = JSON.stringify({ lookUps: [], reply: 'All is well.', refused: false });
  model.reply = () => ({ content });
  const again = await chat(QUESTION, conversationId, key);
  expect(again).toMatchObject({ status: 200, body: { reply: 'All is well.' } });
  expect(await read()).toHaveLength(4);
  expect(await service.rows('select 1 from chat_turns')).toEqual([]);
}, 60_000);
